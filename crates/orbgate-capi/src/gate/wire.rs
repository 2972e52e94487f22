//! The form of messages: fields, each a number, a length and its bytes, one after the other. A message is itself such a field, and
//! so is a part of one. All numbers are little-endian.
//!
//! A question is read strictly: an unknown field, a second one, or one of another form is an invalid argument.

use crate::status::{OrStatus, OrbgateStatus};

/// The largest message, with its head.
pub(super) const MOST_BYTES: usize = 2 << 20;

/// The largest message with a token configuration, a policy or a request's body. The longest valid configuration fits, and so does one whose error says that it is too long.
const MOST_BYTES_OF_LONG: usize = 10 << 20;

/// In the number of a field: a host that doesn't know it must deny.
pub(super) const CRITICAL: u32 = 1 << 31;

const INVALID: OrbgateStatus = OrbgateStatus::InvalidArgument;

/// The number and the fields of a message. Those with one of these numbers can be long.
pub(super) fn message<'a>(bytes: &'a [u8], long: &[u32]) -> OrStatus<(u32, Fields<'a>)> {
    let mut whole = Fields(bytes);
    let (number, fields) = whole.take()?;
    let most = if long.contains(&number) { MOST_BYTES_OF_LONG } else { MOST_BYTES };
    match whole.0.is_empty() && bytes.len() <= most {
        true => Ok((number, Fields(fields))),
        false => Err(INVALID),
    }
}

/// Fields to read.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    /// The next field.
    #[inline]
    fn take(&mut self) -> OrStatus<(u32, &'a [u8])> {
        let (number, rest) = self.0.split_first_chunk().ok_or(INVALID)?;
        let (len, rest) = rest.split_first_chunk().ok_or(INVALID)?;
        let len = usize::try_from(u32::from_le_bytes(*len)).map_err(|_| INVALID)?;
        let (bytes, rest) = rest.split_at_checked(len).ok_or(INVALID)?;
        self.0 = rest;
        Ok((u32::from_le_bytes(*number), bytes))
    }

    /// Hands each field on.
    #[inline]
    pub(super) fn each(mut self, mut read: impl FnMut(u32, &'a [u8]) -> OrStatus) -> OrStatus {
        while !self.0.is_empty() {
            let (number, bytes) = self.take()?;
            read(number, bytes)?;
        }
        Ok(())
    }
}

/// The numbers of fields that were already read.
#[derive(Default)]
pub(super) struct Seen(u64);

impl Seen {
    /// Refuses a second field with this number, which is below 64.
    #[inline]
    pub(super) fn first(&mut self, number: u32) -> OrStatus {
        let bit = 1_u64.checked_shl(number).ok_or(INVALID)?;
        if self.0 & bit != 0 {
            return Err(INVALID);
        }
        self.0 |= bit;
        Ok(())
    }
}

/// The value of a field.
pub(super) trait Value<'a>: Sized {
    fn read(bytes: &'a [u8]) -> OrStatus<Self>;
}

impl<'a> Value<'a> for u64 {
    #[inline]
    fn read(bytes: &'a [u8]) -> OrStatus<Self> {
        bytes.try_into().map(Self::from_le_bytes).map_err(|_| INVALID)
    }
}

/// True if the field is there.
impl<'a> Value<'a> for bool {
    #[inline]
    fn read(bytes: &'a [u8]) -> OrStatus<Self> {
        bytes.is_empty().then_some(true).ok_or(INVALID)
    }
}

impl<'a> Value<'a> for &'a [u8] {
    #[inline]
    fn read(bytes: &'a [u8]) -> OrStatus<Self> {
        Ok(bytes)
    }
}

impl<'a> Value<'a> for &'a str {
    #[inline]
    fn read(bytes: &'a [u8]) -> OrStatus<Self> {
        str::from_utf8(bytes).map_err(|_| INVALID)
    }
}

/// The fields of a part.
impl<'a> Value<'a> for Fields<'a> {
    #[inline]
    fn read(bytes: &'a [u8]) -> OrStatus<Self> {
        Ok(Self(bytes))
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

    /// A number; 0 is left out.
    #[inline]
    pub(super) fn integer(&mut self, number: u32, value: u64) {
        if value != 0 {
            self.head(number, 8);
            self.memory.extend_from_slice(&value.to_le_bytes());
        }
    }

    /// A flag, which is there if it is set.
    #[inline]
    pub(super) fn boolean(&mut self, number: u32, value: bool) {
        if value {
            self.head(number, 0);
        }
    }

    /// Bytes, even if they are empty.
    #[inline]
    pub(super) fn bytes(&mut self, number: u32, value: &[u8]) -> OrStatus {
        let len = u32::try_from(value.len()).map_err(|_| INVALID)?;
        self.head(number, len);
        self.memory.extend_from_slice(value);
        Ok(())
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
