//! A record from its kind and the bytes of its body, parsed once.

use heeler_core::Record;
use serde::Deserialize;
use serde::de::value::{BorrowedStrDeserializer, MapAccessDeserializer};
use serde::de::{DeserializeSeed, MapAccess};
use serde_json::Error;

/// Parses the body as the type its kind says.
pub(crate) fn record(kind: &str, body: Option<&str>) -> Result<Record, Error> {
    let fields = KindThenBody { kind: Some(kind), body };
    Record::deserialize(MapAccessDeserializer::new(fields))
}

/// The object `{"kind": .., "body": ..}` that a record is, handed over field by field. Because the
/// kind comes first, the body goes straight into its type, without a copy of its tree between.
struct KindThenBody<'de> {
    kind: Option<&'de str>,
    body: Option<&'de str>,
}

impl<'de> MapAccess<'de> for KindThenBody<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        let key = match (self.kind, self.body) {
            (Some(_), _) => "kind",
            (None, Some(_)) => "body",
            (None, None) => return Ok(None),
        };
        seed.deserialize(BorrowedStrDeserializer::new(key)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        if let Some(kind) = self.kind.take() {
            return seed.deserialize(BorrowedStrDeserializer::new(kind));
        }
        let mut body = serde_json::Deserializer::from_str(self.body.take().unwrap_or_default());
        let value = seed.deserialize(&mut body)?;
        body.end()?;
        Ok(value)
    }
}
