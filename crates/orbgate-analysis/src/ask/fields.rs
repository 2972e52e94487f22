//! Answers as fields, each a number, a length and its bytes, as in messages of gates. The number is that of the field's name in
//! [`NAMES`]. A list is a field for each item, and an item that is a list is again such fields. What the JSON has as null, as an
//! empty list or as false isn't there, but every string and integer of it is.

use core::fmt::Display;

use serde::ser::{Error as _, Impossible, Serialize, SerializeMap, SerializeSeq, SerializeStruct, Serializer};

use crate::ask::names::NAMES;

pub(super) fn write(answer: &impl Serialize) -> Result<Vec<u8>, Unwritable> {
    let mut bytes = Vec::with_capacity(512);
    // An answer is an object: its fields, without a head.
    answer.serialize(Value { to: &mut bytes, number: 0, place: Place::Whole })?;
    Ok(bytes)
}

/// Why an answer can't be written: a bug, which a test of every answer would find.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Unwritable(String);

impl serde::ser::Error for Unwritable {
    fn custom<T: Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// The number of the field with this name.
fn number(name: &str) -> Result<u32, Unwritable> {
    let index = NAMES.get_index(name).ok_or_else(|| Unwritable(format!("no field is `{name}`")))?;
    u32::try_from(index).map_err(Unwritable::custom)
}

/// Where a value stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Whole,
    Field,
    Item,
}

/// Writes one value as a field with this number.
struct Value<'b> {
    to: &'b mut Vec<u8>,
    number: u32,
    place: Place,
}

impl<'b> Value<'b> {
    fn bytes(self, bytes: &[u8]) -> Result<(), Unwritable> {
        let len = u32::try_from(bytes.len()).map_err(Unwritable::custom)?;
        self.to.extend_from_slice(&self.number.to_le_bytes());
        self.to.extend_from_slice(&len.to_le_bytes());
        self.to.extend_from_slice(bytes);
        Ok(())
    }

    /// Fields inside of this one, or of the whole.
    fn part(self) -> Result<Part<'b>, Unwritable> {
        let Self { to, number, place } = self;
        let is_headed = place != Place::Whole;
        if is_headed {
            Value { to, number, place }.bytes(&[])?;
        }
        let start = is_headed.then_some(to.len());
        Ok(Part { to, number, start })
    }
}

/// Fields, or the items of a list.
struct Part<'b> {
    to: &'b mut Vec<u8>,
    /// That of the list, or of the next field.
    number: u32,
    /// Where the bytes of the field that they are in start.
    start: Option<usize>,
}

impl Part<'_> {
    fn finish(self) -> Result<(), Unwritable> {
        if let Some(start) = self.start {
            let len = u32::try_from(self.to.len().saturating_sub(start)).map_err(Unwritable::custom)?;
            let head = start.checked_sub(4).and_then(|at| self.to.get_mut(at..start));
            head.ok_or_else(|| Unwritable::custom("no head"))?.copy_from_slice(&len.to_le_bytes());
        }
        Ok(())
    }
}

impl SerializeStruct for Part<'_> {
    type Ok = ();
    type Error = Unwritable;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Unwritable> {
        value.serialize(Value { to: self.to, number: number(name)?, place: Place::Field })
    }

    fn end(self) -> Result<(), Unwritable> {
        self.finish()
    }
}

/// A struct with the fields of another one: its names come as values.
impl SerializeMap for Part<'_> {
    type Ok = ();
    type Error = Unwritable;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, name: &T) -> Result<(), Unwritable> {
        let mut written = Vec::new();
        name.serialize(Value { to: &mut written, number: 0, place: Place::Field })?;
        let name = written.get(8..).and_then(|name| str::from_utf8(name).ok());
        self.number = number(name.unwrap_or_default())?;
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unwritable> {
        value.serialize(Value { to: self.to, number: self.number, place: Place::Field })
    }

    fn end(self) -> Result<(), Unwritable> {
        self.finish()
    }
}

impl SerializeSeq for Part<'_> {
    type Ok = ();
    type Error = Unwritable;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, item: &T) -> Result<(), Unwritable> {
        item.serialize(Value { to: self.to, number: self.number, place: Place::Item })
    }

    fn end(self) -> Result<(), Unwritable> {
        self.finish()
    }
}

/// Integers, all as 64 bits.
macro_rules! integers {
    ($($name:ident $type:ty),*) => {$(
        fn $name(self, value: $type) -> Result<(), Unwritable> {
            self.bytes(&u64::from(value).to_le_bytes())
        }
    )*};
}

/// What no answer has.
macro_rules! never {
    ($($name:ident($($type:ty),*)),*) => {$(
        fn $name(self, $(_: $type),*) -> Result<(), Unwritable> {
            Err(Unwritable::custom(concat!(stringify!($name), " in an answer")))
        }
    )*};
}

impl<'b> Serializer for Value<'b> {
    type Ok = ();
    type Error = Unwritable;
    type SerializeSeq = Part<'b>;
    type SerializeTuple = Impossible<(), Unwritable>;
    type SerializeTupleStruct = Impossible<(), Unwritable>;
    type SerializeTupleVariant = Impossible<(), Unwritable>;
    type SerializeMap = Part<'b>;
    type SerializeStruct = Part<'b>;
    type SerializeStructVariant = Impossible<(), Unwritable>;

    integers!(serialize_u8 u8, serialize_u16 u16, serialize_u32 u32, serialize_u64 u64);
    never!(
        serialize_i8(i8),
        serialize_i16(i16),
        serialize_i32(i32),
        serialize_i64(i64),
        serialize_f32(f32),
        serialize_f64(f64)
    );
    never!(serialize_char(char), serialize_bytes(&[u8]), serialize_unit(), serialize_unit_struct(&'static str));

    fn serialize_bool(self, value: bool) -> Result<(), Unwritable> {
        if value { self.bytes(&[]) } else { Ok(()) }
    }

    fn serialize_str(self, value: &str) -> Result<(), Unwritable> {
        self.bytes(value.as_bytes())
    }

    fn serialize_none(self) -> Result<(), Unwritable> {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Unwritable> {
        value.serialize(self)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Result<(), Unwritable> {
        self.serialize_str(name)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Unwritable> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), Unwritable> {
        Err(Unwritable::custom("a variant with a value in an answer"))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Part<'b>, Unwritable> {
        match self.place {
            Place::Item => self.part(),
            // Its items are fields beside the others.
            Place::Whole | Place::Field => Ok(Part { to: self.to, number: self.number, start: None }),
        }
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Unwritable> {
        Err(Unwritable::custom("a tuple in an answer"))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeTupleStruct, Unwritable> {
        Err(Unwritable::custom("a tuple in an answer"))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Unwritable> {
        Err(Unwritable::custom("a variant with values in an answer"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Part<'b>, Unwritable> {
        self.part()
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Part<'b>, Unwritable> {
        self.part()
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Unwritable> {
        Err(Unwritable::custom("a variant with values in an answer"))
    }
}
