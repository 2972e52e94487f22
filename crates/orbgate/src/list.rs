//! Slices that are either built into the program or built at run time.

use core::fmt;
use core::ops::Deref;

/// A slice that is `static` in an engine compiled into the program and owned in one made at run time.
///
/// Both variants hold pointer and length in the same place, so reading one costs no branch.
pub enum List<T: 'static> {
    /// Part of the program.
    Static(&'static [T]),
    /// Built at run time.
    Owned(Box<[T]>),
}

impl<T> Deref for List<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        match self {
            Self::Static(items) => items,
            Self::Owned(items) => items,
        }
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Self::Static(&[])
    }
}

impl<T> From<Vec<T>> for List<T> {
    fn from(items: Vec<T>) -> Self {
        Self::Owned(items.into_boxed_slice())
    }
}

impl<T: fmt::Debug> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// The engine's names and templates, end to end in one string.
pub enum Text {
    /// Part of the program.
    Static(&'static str),
    /// Built at run time.
    Owned(Box<str>),
}

impl Default for Text {
    fn default() -> Self {
        Self::Static("")
    }
}

impl Text {
    /// The bytes at `span`.
    #[inline(always)]
    pub(crate) fn bytes(&self, span: Span) -> &[u8] {
        let all: &str = match self {
            Self::Static(all) => all,
            Self::Owned(all) => all,
        };
        let start = crate::hash::index(span.start);
        let end = start.saturating_add(crate::hash::index(span.length));
        all.as_bytes().get(start..end).unwrap_or_default()
    }

    /// The piece at `span`. A span always comes from the engine that owns the text.
    #[inline(always)]
    pub(crate) fn get(&self, span: Span) -> &str {
        let all: &str = match self {
            Self::Static(all) => all,
            Self::Owned(all) => all,
        };
        let start = crate::hash::index(span.start);
        let end = start.saturating_add(crate::hash::index(span.length));
        all.get(start..end).unwrap_or_default()
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Static(all) => all.fmt(f),
            Self::Owned(all) => all.fmt(f),
        }
    }
}

/// A piece of an engine's [`Text`], in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Where it starts.
    pub start: u32,
    /// How long it is.
    pub length: u32,
}
