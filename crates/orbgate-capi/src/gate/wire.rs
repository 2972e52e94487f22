//! The form of messages: fields, each a number, a length and its bytes, one after the other. A message is itself such a field, and
//! so is a part of one. All numbers are little-endian.
//!
//! A question is read strictly: an unknown field, a second one, or one of another form is an invalid argument.

use crate::status::{OrStatus, OrbgateStatus};

/// The largest message, with its head.
pub(super) const MOST_BYTES: usize = 2 << 20;

/// The bytes of a field's number and length.
pub(super) const HEAD: usize = 8;

/// The largest message with a token configuration, a policy or a request's body. The longest valid configuration fits, and so does one whose error says that it is too long.
const MOST_BYTES_OF_LONG: usize = 10 << 20;

/// In the number of a field: a host that doesn't know it must deny.
pub(super) const CRITICAL: u32 = 1 << 31;

pub(super) const INVALID: OrbgateStatus = OrbgateStatus::InvalidArgument;

/// The number and the fields of a message. Those with one of these numbers can be long.
#[inline]
pub(super) fn message<'a>(bytes: &'a [u8], long: &[u32]) -> OrStatus<(u32, &'a [u8])> {
    let (number, fields, rest) = first(bytes)?;
    let most = if long.contains(&number) { MOST_BYTES_OF_LONG } else { MOST_BYTES };
    match rest.is_empty() && bytes.len() <= most {
        true => Ok((number, fields)),
        false => Err(INVALID),
    }
}

/// The number and the bytes of the first field, and the fields after it.
#[inline]
fn first(fields: &[u8]) -> OrStatus<(u32, &[u8], &[u8])> {
    let (number, rest) = fields.split_first_chunk().ok_or(INVALID)?;
    let (len, rest) = rest.split_first_chunk().ok_or(INVALID)?;
    let len = usize::try_from(u32::from_le_bytes(*len)).map_err(|_| INVALID)?;
    let (bytes, rest) = rest.split_at_checked(len).ok_or(INVALID)?;
    Ok((u32::from_le_bytes(*number), bytes, rest))
}

/// Hands each field on, with the fields before it.
#[inline]
pub(super) fn each<'a>(mut fields: &'a [u8], mut read: impl FnMut(u32, &'a [u8], &mut Seen) -> OrStatus) -> OrStatus {
    let mut seen = Seen(0);
    while !fields.is_empty() {
        let (number, bytes, rest) = first(fields)?;
        fields = rest;
        read(number, bytes, &mut seen)?;
    }
    Ok(())
}

/// The numbers of fields that were already read.
pub(super) struct Seen(u64);

impl Seen {
    /// Refuses a second field with this number, which is below 64.
    #[inline]
    fn first(&mut self, number: u32) -> OrStatus {
        let bit = 1_u64.checked_shl(number).ok_or(INVALID)?;
        if self.0 & bit != 0 {
            return Err(INVALID);
        }
        self.0 |= bit;
        Ok(())
    }
}

/// What the bytes of a field say.
pub(super) trait Form<'a>: Sized {
    fn read(bytes: &'a [u8]) -> OrStatus<Self>;
}

impl<'a> Form<'a> for u64 {
    #[inline]
    fn read(bytes: &'a [u8]) -> OrStatus<Self> {
        bytes.try_into().map(Self::from_le_bytes).map_err(|_| INVALID)
    }
}

/// True if the field is there.
impl<'a> Form<'a> for bool {
    #[inline]
    fn read(bytes: &'a [u8]) -> OrStatus<Self> {
        bytes.is_empty().then_some(true).ok_or(INVALID)
    }
}

impl<'a> Form<'a> for &'a [u8] {
    #[inline]
    fn read(bytes: &'a [u8]) -> OrStatus<Self> {
        Ok(bytes)
    }
}

impl<'a> Form<'a> for &'a str {
    #[inline]
    fn read(bytes: &'a [u8]) -> OrStatus<Self> {
        str::from_utf8(bytes).map_err(|_| INVALID)
    }
}

/// What a field, or several ones with its number, is read into.
pub(super) trait Fill<'a> {
    fn fill(&mut self, number: u32, bytes: &'a [u8], seen: &mut Seen) -> OrStatus;
}

impl<'a, T: Form<'a>> Fill<'a> for T {
    #[inline]
    fn fill(&mut self, number: u32, bytes: &'a [u8], seen: &mut Seen) -> OrStatus {
        seen.first(number)?;
        *self = T::read(bytes)?;
        Ok(())
    }
}

impl<'a, T: Form<'a>> Fill<'a> for Option<T> {
    #[inline]
    fn fill(&mut self, number: u32, bytes: &'a [u8], seen: &mut Seen) -> OrStatus {
        seen.first(number)?;
        *self = Some(T::read(bytes)?);
        Ok(())
    }
}

impl<'a, T: Form<'a>> Fill<'a> for Vec<T> {
    #[inline]
    fn fill(&mut self, _: u32, bytes: &'a [u8], _: &mut Seen) -> OrStatus {
        self.push(T::read(bytes)?);
        Ok(())
    }
}

/// Writes an answer over an earlier one.
pub(super) struct Writer<'m> {
    memory: &'m mut Vec<u8>,
}

impl<'m> Writer<'m> {
    pub(super) fn over(memory: &'m mut Vec<u8>) -> Self {
        memory.clear();
        Self { memory }
    }

    fn head(&mut self, number: u32, len: u32) {
        let head = u64::from(number) | u64::from(len) << 32;
        self.memory.extend_from_slice(&head.to_le_bytes());
    }

    /// A field of fields.
    #[inline]
    pub(super) fn fields(&mut self, number: u32, write: impl FnOnce(&mut Self) -> OrStatus) -> OrStatus {
        self.head(number, 0);
        let start = self.memory.len();
        write(self)?;
        let len = self.memory.len().checked_sub(start).and_then(|len| u32::try_from(len).ok()).ok_or(INVALID)?;
        let place = start.checked_sub(4).and_then(|from| self.memory.get_mut(from..start)).ok_or(INVALID)?;
        place.copy_from_slice(&len.to_le_bytes());
        Ok(())
    }
}

/// A value that is a field of its own, even if it is empty.
pub(super) trait Item {
    fn item(&self, number: u32, to: &mut Writer<'_>) -> OrStatus;
}

impl Item for &[u8] {
    #[inline]
    fn item(&self, number: u32, to: &mut Writer<'_>) -> OrStatus {
        let len = u32::try_from(self.len()).map_err(|_| INVALID)?;
        to.head(number, len);
        to.memory.extend_from_slice(self);
        Ok(())
    }
}

impl Item for &str {
    #[inline]
    fn item(&self, number: u32, to: &mut Writer<'_>) -> OrStatus {
        self.as_bytes().item(number, to)
    }
}

/// What is written as a field, or as several ones: 0, false and what is empty or absent is left out.
pub(super) trait Put {
    fn put(&self, number: u32, to: &mut Writer<'_>) -> OrStatus;
}

impl Put for u64 {
    #[inline]
    fn put(&self, number: u32, to: &mut Writer<'_>) -> OrStatus {
        if *self != 0 {
            to.head(number, 8);
            to.memory.extend_from_slice(&self.to_le_bytes());
        }
        Ok(())
    }
}

impl Put for bool {
    #[inline]
    fn put(&self, number: u32, to: &mut Writer<'_>) -> OrStatus {
        if *self {
            to.head(number, 0);
        }
        Ok(())
    }
}

impl Put for &[u8] {
    #[inline]
    fn put(&self, number: u32, to: &mut Writer<'_>) -> OrStatus {
        if self.is_empty() { Ok(()) } else { self.item(number, to) }
    }
}

impl Put for &str {
    #[inline]
    fn put(&self, number: u32, to: &mut Writer<'_>) -> OrStatus {
        self.as_bytes().put(number, to)
    }
}

impl<T: Item> Put for Option<T> {
    #[inline]
    fn put(&self, number: u32, to: &mut Writer<'_>) -> OrStatus {
        self.as_ref().map_or(Ok(()), |one| one.item(number, to))
    }
}

impl<T: Item> Put for Vec<T> {
    #[inline]
    fn put(&self, number: u32, to: &mut Writer<'_>) -> OrStatus {
        self.iter().try_for_each(|one| one.item(number, to))
    }
}
