//! Lists and strings that are either part of the program or built at run time.

use core::fmt;
use core::ops::{Deref, Range};

/// Data that is `static` in an engine compiled into the program, and owned in an engine made at run time.
///
/// Both variants have pointer and length at the same offset, so reading them needs no branch.
pub enum Data<T: ?Sized + 'static> {
    /// Part of the program.
    Static(&'static T),
    /// Built at run time.
    Owned(Box<T>),
}

/// The rows of a table.
pub type List<T> = Data<[T]>;

/// The engine's names and templates, end to end in one string.
pub type Text = Data<str>;

impl<T: ?Sized> Deref for Data<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        match self {
            Self::Static(data) => data,
            Self::Owned(data) => data,
        }
    }
}

impl<T: ?Sized> Clone for Data<T>
where
    Box<T>: Clone,
{
    fn clone(&self) -> Self {
        match self {
            Self::Static(data) => Self::Static(data),
            Self::Owned(data) => Self::Owned(data.clone()),
        }
    }
}

impl<T: ?Sized> Default for Data<T>
where
    &'static T: Default,
{
    fn default() -> Self {
        Self::Static(Default::default())
    }
}

impl<T> From<Vec<T>> for List<T> {
    fn from(items: Vec<T>) -> Self {
        Self::Owned(items.into_boxed_slice())
    }
}

impl<T: fmt::Debug> fmt::Debug for List<T> {
    /// Prints the expression that makes it; `codegen` writes tables this way.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "List::Static(&{:?})", &**self)
    }
}

impl fmt::Debug for Text {
    /// Prints the expression that makes it, broken into pieces of a line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const PIECE: usize = 80;
        let mut rest = &**self;
        f.write_str("Text::Static(concat![")?;
        while let Some((end, _)) = rest.char_indices().nth(PIECE) {
            let (piece, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
            write!(f, "{piece:?}, ")?;
            rest = after;
        }
        write!(f, "{rest:?}])")
    }
}

impl Text {
    /// The string at `span`. A span always comes from the engine that owns the string.
    #[inline(always)]
    pub(crate) fn get(&self, span: Span) -> &str {
        let text = str::get(self, span.range());
        debug_assert!(text.is_some(), "a span of another text");
        text.unwrap_or_default()
    }

    /// The same, in bytes.
    #[inline(always)]
    pub(crate) fn bytes(&self, span: Span) -> &[u8] {
        let bytes = self.as_bytes().get(span.range());
        debug_assert!(bytes.is_some(), "a span of another text");
        bytes.unwrap_or_default()
    }
}

/// An id or a length of the tables as an index: `usize` has at least 32 bits.
#[inline(always)]
#[allow(clippy::as_conversions, reason = "no bits are lost")]
pub(crate) const fn index(id: u32) -> usize {
    id as usize
}

/// A part of an engine's [`Text`], in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The start.
    pub start: u32,
    /// The length.
    pub length: u32,
}

impl Span {
    #[inline(always)]
    const fn range(self) -> Range<usize> {
        let start = index(self.start);
        start..start.saturating_add(index(self.length))
    }
}
