//! Values as they come: numbers, texts, lists and objects.

use std::fmt::{self, Display};
use std::io;

use serde::ser::{
    self, Error as _, Serialize, SerializeMap, SerializeSeq, SerializeStruct,
    SerializeStructVariant, SerializeTuple, SerializeTupleStruct, SerializeTupleVariant,
};

use crate::{Error, Full, PIECE_BYTES, text};

/// What `serde_json::value::RawValue` calls itself, and its only field: its text is JSON already.
const RAW: &str = "$serde_json::private::RawValue";

/// Writes one value.
pub(crate) struct Writer<'o> {
    out: &'o mut Vec<u8>,
    /// Takes what is written, piece by piece; nobody does where the whole has to stay.
    full: Option<&'o mut Full<'o>>,
    /// Why it took nothing more.
    refused: Option<io::Error>,
    depth: usize,
    deepest: usize,
}

impl<'o> Writer<'o> {
    pub(crate) fn new(out: &'o mut Vec<u8>, full: Option<&'o mut Full<'o>>) -> Self {
        Self { out, full, refused: None, depth: 0, deepest: 0 }
    }

    /// The error of whoever takes the pieces, if it was one that ended the writing.
    pub(crate) fn refused(&mut self) -> Option<io::Error> {
        self.refused.take()
    }

    pub(crate) fn deepest(&self) -> usize {
        self.deepest
    }

    pub(crate) fn text(&mut self, text: &str) {
        text::string(self.out, text);
    }

    /// A text of a value, which may be long.
    fn value_text(&mut self, text: &str) -> Result<(), Error> {
        if self.full.is_none() || text.len() < PIECE_BYTES {
            self.text(text);
            return self.hand_on();
        }
        self.out.push(b'"');
        for piece in text.as_bytes().chunks(PIECE_BYTES / 4) {
            text::escaped(self.out, piece);
            self.hand_on()?;
        }
        self.out.push(b'"');
        Ok(())
    }

    /// Hands on what is written, if it is a piece.
    fn hand_on(&mut self) -> Result<(), Error> {
        if let Some(full) = &mut self.full
            && self.out.len() >= PIECE_BYTES
            && let Err(error) = full(self.out)
        {
            self.refused = Some(error);
            return Err(Error::custom("a piece was refused"));
        }
        Ok(())
    }

    /// A number, or whatever else is written as it is.
    pub(crate) fn plain(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    fn open(&mut self, bracket: u8) {
        self.out.push(bracket);
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
    }

    fn close(&mut self, bracket: u8) {
        self.out.push(bracket);
        self.depth -= 1;
    }

    /// The beginning of `{"variant":`.
    fn variant(&mut self, variant: &str) {
        self.open(b'{');
        self.text(variant);
        self.out.push(b':');
    }

    /// A text that is JSON.
    fn raw<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        match serde_json::to_value(value)? {
            serde_json::Value::String(json) => self.plain(json.as_bytes()),
            _ => return Err(Error::custom("a raw value is a text")),
        }
        Ok(())
    }

    /// A text that is displayed, without making it first.
    fn displayed<T: Display + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        use fmt::Write as _;
        self.out.push(b'"');
        let written = write!(Escaping(self.out), "{value}");
        self.out.push(b'"');
        written.map_err(|_| Error::custom("a value could not be displayed"))
    }
}

/// Takes what is displayed, piece by piece.
struct Escaping<'o>(&'o mut Vec<u8>);

impl fmt::Write for Escaping<'_> {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        text::escaped(self.0, piece.as_bytes());
        Ok(())
    }
}

/// A list or an object that is being written, and what closes it.
pub(crate) struct Compound<'w, 'o> {
    writer: &'w mut Writer<'o>,
    has_items: bool,
    end: End,
}

#[derive(Clone, Copy)]
enum End {
    List,
    Object,
    /// Of a variant's, and the object around it.
    ListInObject,
    ObjectInObject,
    /// Nothing was opened: what stands in it is JSON.
    Raw,
}

impl<'w, 'o> Compound<'w, 'o> {
    fn list(writer: &'w mut Writer<'o>, end: End) -> Self {
        writer.open(b'[');
        Self { writer, has_items: false, end }
    }

    fn object(writer: &'w mut Writer<'o>, end: End) -> Self {
        writer.open(b'{');
        Self { writer, has_items: false, end }
    }

    fn next(&mut self) {
        if self.has_items {
            self.writer.out.push(b',');
        }
        self.has_items = true;
    }

    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.next();
        value.serialize(&mut *self.writer)
    }

    fn field<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), Error> {
        if let End::Raw = self.end {
            return self.writer.raw(value);
        }
        self.next();
        self.writer.text(name);
        self.writer.out.push(b':');
        value.serialize(&mut *self.writer)
    }

    fn finish(self) -> Result<(), Error> {
        let (first, second) = match self.end {
            End::List => (b']', None),
            End::Object => (b'}', None),
            End::ListInObject => (b']', Some(b'}')),
            End::ObjectInObject => (b'}', Some(b'}')),
            End::Raw => return Ok(()),
        };
        self.writer.close(first);
        if let Some(second) = second {
            self.writer.close(second);
        }
        Ok(())
    }
}

macro_rules! numbers {
    ($($name:ident $type:ty),*) => {$(
        fn $name(self, value: $type) -> Result<(), Error> {
            self.plain(itoa::Buffer::new().format(value).as_bytes());
            Ok(())
        }
    )*};
}

impl<'w, 'o> ser::Serializer for &'w mut Writer<'o> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Compound<'w, 'o>;
    type SerializeTuple = Compound<'w, 'o>;
    type SerializeTupleStruct = Compound<'w, 'o>;
    type SerializeTupleVariant = Compound<'w, 'o>;
    type SerializeMap = Compound<'w, 'o>;
    type SerializeStruct = Compound<'w, 'o>;
    type SerializeStructVariant = Compound<'w, 'o>;

    numbers!(
        serialize_i8 i8, serialize_i16 i16, serialize_i32 i32, serialize_i64 i64,
        serialize_u8 u8, serialize_u16 u16, serialize_u32 u32, serialize_u64 u64,
        serialize_i128 i128, serialize_u128 u128
    );

    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        self.plain(if value { b"true" } else { b"false" });
        Ok(())
    }

    // How a float is written is not simple, and hardly ever needed.
    fn serialize_f32(self, value: f32) -> Result<(), Error> {
        serde_json::to_writer(&mut *self.out, &value)
    }

    fn serialize_f64(self, value: f64) -> Result<(), Error> {
        serde_json::to_writer(&mut *self.out, &value)
    }

    fn serialize_char(self, value: char) -> Result<(), Error> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), Error> {
        self.value_text(value)
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), Error> {
        self.displayed(value)
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Error> {
        self.collect_seq(value)
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.plain(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), Error> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.variant(variant);
        value.serialize(&mut *self)?;
        self.close(b'}');
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Compound<'w, 'o>, Error> {
        Ok(Compound::list(self, End::List))
    }

    fn serialize_tuple(self, _: usize) -> Result<Compound<'w, 'o>, Error> {
        Ok(Compound::list(self, End::List))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Compound<'w, 'o>, Error> {
        Ok(Compound::list(self, End::List))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'w, 'o>, Error> {
        self.variant(variant);
        Ok(Compound::list(self, End::ListInObject))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Compound<'w, 'o>, Error> {
        Ok(Compound::object(self, End::Object))
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Compound<'w, 'o>, Error> {
        if name == RAW {
            return Ok(Compound { writer: self, has_items: false, end: End::Raw });
        }
        Ok(Compound::object(self, End::Object))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'w, 'o>, Error> {
        self.variant(variant);
        Ok(Compound::object(self, End::ObjectInObject))
    }
}

macro_rules! lists {
    ($($list:ident $method:ident),*) => {$(
        impl $list for Compound<'_, '_> {
            type Ok = ();
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                self.item(value)
            }

            fn end(self) -> Result<(), Error> {
                self.finish()
            }
        }
    )*};
}

lists!(
    SerializeSeq serialize_element, SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field, SerializeTupleVariant serialize_field
);

macro_rules! objects {
    ($($object:ident),*) => {$(
        impl $object for Compound<'_, '_> {
            type Ok = ();
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), Error> {
                self.field(name, value)
            }

            fn end(self) -> Result<(), Error> {
                self.finish()
            }
        }
    )*};
}

objects!(SerializeStruct, SerializeStructVariant);

impl SerializeMap for Compound<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.next();
        let start = self.writer.out.len();
        // Looked at again, so it stays.
        let full = self.writer.full.take();
        key.serialize(&mut *self.writer)?;
        self.writer.full = full;
        match self.writer.out.get(start) {
            Some(b'"') => {}
            // A number or a truth, which is a key as a text.
            Some(b'0'..=b'9' | b'-' | b't' | b'f') => {
                self.writer.out.insert(start, b'"');
                self.writer.out.push(b'"');
            }
            _ => return Err(Error::custom("key must be a string")),
        }
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.writer.out.push(b':');
        value.serialize(&mut *self.writer)
    }

    fn end(self) -> Result<(), Error> {
        self.finish()
    }
}
