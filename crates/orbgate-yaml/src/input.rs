//! Limits the parser's input, so that the parser doesn't keep too much in memory.
//!
//! A list in brackets might turn out to be a key, so the parser collects all of it before it reports the first item.
//! Each comma takes hundreds of bytes. This input limits how much the parser can collect.

use core::cell::Cell;
use core::fmt;

use saphyr_parser::input::{SkipTabs, is_blank_or_breakz, is_flow};
use saphyr_parser::{Input, StrInput};

/// How many of the characters `,[]{}` the parser can still read before it reports a value.
#[derive(Debug)]
pub(super) struct Budget(Cell<u32>);

impl Budget {
    /// The maximum number of these characters. A longer list should be written on several lines, not
    /// in brackets.
    pub(super) const MARKS: u32 = 32_768;

    /// The full budget.
    #[must_use]
    pub(super) const fn new() -> Self {
        Self(Cell::new(Self::MARKS))
    }

    /// Restores the full budget, because the parser has reported something.
    pub(super) fn renew(&self) {
        self.0.set(Self::MARKS);
    }

    /// Whether the input was cut short.
    #[must_use]
    pub(super) const fn is_spent(&self) -> bool {
        self.0.get() == 0
    }

    fn spend(&self) {
        self.0.set(self.0.get().saturating_sub(1));
    }
}

/// Input that ends when the budget is used up, for a parser of `saphyr-parser`.
pub(super) struct Bounded<'t> {
    text: StrInput<'t>,
    budget: &'t Budget,
}

impl<'t> Bounded<'t> {
    /// Reads from a string.
    #[must_use]
    pub(super) fn new(text: &'t str, budget: &'t Budget) -> Self {
        Self { text: StrInput::new(text), budget }
    }

    /// Counts a comma or bracket. Kept out of line, because most characters are neither.
    #[cold]
    fn spend(&mut self) {
        self.budget.spend();
        if self.budget.is_spent() {
            self.text = StrInput::new("");
        }
    }
}

impl fmt::Debug for Bounded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bounded").finish_non_exhaustive()
    }
}

/// Methods that only forward to the string's input.
macro_rules! forward {
    ($this:ident reads $($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {$(
        #[inline]
        fn $name(&$this, $($argument: $type),*) -> $result {
            $this.text.$name($($argument),*)
        }
    )*};
    ($this:ident takes $($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {$(
        #[inline]
        fn $name(&mut $this, $($argument: $type),*) -> $result {
            $this.text.$name($($argument),*)
        }
    )*};
}

impl Input for Bounded<'_> {
    #[inline]
    fn skip(&mut self) {
        if self.text.next_is_flow() {
            self.spend();
        }
        self.text.skip();
    }

    /// The parser reserves this many bytes for each string, and most strings are short.
    #[inline]
    fn bufmaxlen(&self) -> usize {
        32
    }

    /// Called for every character of a plain string. Only a colon requires reading the next
    /// character.
    #[inline]
    fn next_can_be_plain_scalar(&self, in_flow: bool) -> bool {
        match self.text.peek() {
            ':' => {
                let next = self.text.peek_nth(1);
                !(is_blank_or_breakz(next) || in_flow && is_flow(next))
            }
            '\u{feff}' => false,
            c => !(in_flow && is_flow(c)),
        }
    }

    forward! { self reads
        buflen() -> usize;
        buf_is_empty() -> bool;
        peek() -> char;
        peek_nth(n: usize) -> char;
        peek_opt() -> Option<char>;
        next_char_is(c: char) -> bool;
        nth_char_is(n: usize, c: char) -> bool;
        next_2_are(first: char, second: char) -> bool;
        next_3_are(first: char, second: char, third: char) -> bool;
        next_is_document_indicator() -> bool;
        next_is_document_start() -> bool;
        next_is_document_end() -> bool;
        next_is_blank_or_break() -> bool;
        next_is_blank_or_breakz() -> bool;
        next_is_blank() -> bool;
        next_is_break() -> bool;
        next_is_breakz() -> bool;
        next_is_z() -> bool;
        next_is_flow() -> bool;
        next_is_digit() -> bool;
        next_is_alpha() -> bool;
    }

    forward! { self takes
        lookahead(count: usize) -> ();
        raw_read_ch() -> char;
        raw_read_non_breakz_ch() -> Option<char>;
        skip_n(count: usize) -> ();
        look_ch() -> char;
        skip_ws_to_eol(tabs: SkipTabs) -> (usize, Result<SkipTabs, &'static str>);
        skip_while_non_breakz() -> usize;
        skip_while_blank() -> usize;
        fetch_while_is_alpha(out: &mut String) -> usize;
        fetch_while_is_yaml_non_space(out: &mut String) -> usize;
    }
}
