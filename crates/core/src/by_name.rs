//! Structs read by the names of their fields alone.
//!
//! A type that is read by serde takes an array of its fields' values as well as an object, and the
//! code for the array, which nobody writes, is nearly half of all that reads. Here only the object is
//! left, at every depth: what is handed on is wrapped again.

use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor,
};

/// A part of a reader (a deserializer, a visitor, an access, a seed) whose structs are objects.
pub struct ByName<T>(pub T);

/// Scalars hold no structs.
macro_rules! as_it_is {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            self.0.$method(visitor)
        }
    )*};
}

macro_rules! wrapped {
    ($($method:ident($($argument:ident: $kind:ty),*))*) => {$(
        fn $method<V: Visitor<'de>>(
            self,
            $($argument: $kind,)*
            visitor: V,
        ) -> Result<V::Value, D::Error> {
            self.0.$method($($argument,)* ByName(visitor))
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for ByName<D> {
    type Error = D::Error;

    as_it_is! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_i128 deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
        deserialize_u128 deserialize_f32 deserialize_f64 deserialize_char deserialize_str
        deserialize_string deserialize_bytes deserialize_byte_buf deserialize_unit
        deserialize_identifier deserialize_ignored_any
    }

    wrapped! {
        deserialize_any()
        deserialize_option()
        deserialize_newtype_struct(name: &'static str)
        deserialize_seq()
        deserialize_tuple(len: usize)
        deserialize_tuple_struct(name: &'static str, len: usize)
        deserialize_map()
        deserialize_enum(name: &'static str, variants: &'static [&'static str])
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.deserialize_map(visitor)
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_unit_struct(name, visitor)
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
}

macro_rules! visits {
    ($($method:ident($kind:ty))*) => {$(
        fn $method<E: Error>(self, value: $kind) -> Result<V::Value, E> {
            self.0.$method(value)
        }
    )*};
}

impl<'de, V: Visitor<'de>> Visitor<'de> for ByName<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    visits! {
        visit_bool(bool) visit_i64(i64) visit_i128(i128) visit_u64(u64) visit_u128(u128)
        visit_f64(f64) visit_str(&str) visit_borrowed_str(&'de str) visit_string(String)
        visit_bytes(&[u8]) visit_borrowed_bytes(&'de [u8]) visit_byte_buf(Vec<u8>)
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, some: D) -> Result<V::Value, D::Error> {
        self.0.visit_some(ByName(some))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.0.visit_newtype_struct(ByName(inner))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, elements: A) -> Result<V::Value, A::Error> {
        self.0.visit_seq(ByName(elements))
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(ByName(entries))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, variant: A) -> Result<V::Value, A::Error> {
        self.0.visit_enum(ByName(variant))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for ByName<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.0.next_element_seed(ByName(seed))
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for ByName<A> {
    type Error = A::Error;

    // A name is no struct.
    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.0.next_key_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(ByName(seed))
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for ByName<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(ByName(deserializer))
    }
}

impl<'de, A: EnumAccess<'de>> EnumAccess<'de> for ByName<A> {
    type Error = A::Error;
    type Variant = ByName<A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self::Variant), A::Error> {
        let (name, content) = self.0.variant_seed(seed)?;
        Ok((name, ByName(content)))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for ByName<A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.0.unit_variant()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        self.0.newtype_variant_seed(ByName(seed))
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, A::Error> {
        self.0.tuple_variant(len, ByName(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.0.newtype_variant_seed(Fields(visitor))
    }
}

/// The seed of a variant's fields.
struct Fields<V>(V);

impl<'de, V: Visitor<'de>> DeserializeSeed<'de> for Fields<V> {
    type Value = V::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        ByName(deserializer).deserialize_map(self.0)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use expect_test::{Expect, expect};
    use serde::Deserialize;

    use crate::from_json;

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "read by Debug")]
    struct Whole<'a> {
        #[serde(default)]
        number: u8,
        text: Option<&'a str>,
        #[serde(borrow, default)]
        raw: Option<&'a serde_json::value::RawValue>,
        #[serde(default)]
        pairs: Vec<(u8, Part)>,
        #[serde(default)]
        by_name: BTreeMap<Name, Kind>,
        #[serde(default)]
        any: serde_json::Value,
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "read by Debug")]
    struct Part {
        a: bool,
    }

    #[derive(Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
    struct Name(String);

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "read by Debug")]
    enum Kind {
        Unit,
        Part(Part),
        Two(u8, Part),
        Fields { part: Box<Part> },
    }

    fn check(json: &str, expected: Expect) {
        match from_json::<Whole<'_>>(json) {
            Ok(whole) => expected.assert_eq(&format!("{whole:?}")),
            Err(error) => expected.assert_eq(&format!("error: {error}")),
        }
    }

    #[test]
    fn objects_are_read_at_every_depth() {
        check(
            r#"{"number": 7, "text": "t", "raw": [1, {"x": 2}], "pairs": [[1, {"a": true}]],
                "by_name": {"one": "Unit", "two": {"Part": {"a": false}}, "three": {"Two": [3, {"a": true}]},
                "four": {"Fields": {"part": {"a": true}}}}, "any": [{"k": [null, 1.5]}], "more": [[]]}"#,
            expect![[
                r#"Whole { number: 7, text: Some("t"), raw: Some(RawValue([1, {"x": 2}])), pairs: [(1, Part { a: true })], by_name: {Name("four"): Fields { part: Part { a: true } }, Name("one"): Unit, Name("three"): Two(3, Part { a: true }), Name("two"): Part(Part { a: false })}, any: Array [Object {"k": Array [Null, Number(1.5)]}] }"#
            ]],
        );
    }

    #[test]
    fn no_array_is_read_as_a_struct() {
        check(
            "[7, null, null, [], {}, null]",
            expect!["error: invalid type: sequence, expected struct Whole at line 1 column 0"],
        );
        check(
            r#"{"pairs": [[1, [true]]]}"#,
            expect!["error: invalid type: sequence, expected struct Part at line 1 column 15"],
        );
        check(
            r#"{"by_name": {"one": {"Part": [true]}}}"#,
            expect!["error: invalid type: sequence, expected struct Part at line 1 column 29"],
        );
        check(
            r#"{"by_name": {"one": {"Fields": [{"a": true}]}}}"#,
            expect![
                "error: invalid type: sequence, expected struct variant Kind::Fields at line 1 column 31"
            ],
        );
        check(
            r#"{"by_name": {"one": "Fields"}}"#,
            expect![
                "error: invalid type: unit variant, expected newtype variant at line 1 column 29"
            ],
        );
        check(r#"{"text": null} x"#, expect!["error: trailing characters at line 1 column 16"]);
    }

    #[test]
    fn a_variant_without_content_has_none() {
        check(
            r#"{"by_name": {"one": {"Unit": null}}}"#,
            expect![[
                r#"Whole { number: 0, text: None, raw: None, pairs: [], by_name: {Name("one"): Unit}, any: Null }"#
            ]],
        );
        check(
            r#"{"by_name": {"one": {"Unit": 7}}}"#,
            expect!["error: invalid type: integer `7`, expected unit at line 1 column 30"],
        );
        check(
            r#"{"by_name": {"one": {"Unit": }}}"#,
            expect!["error: expected value at line 1 column 30"],
        );
    }
}
