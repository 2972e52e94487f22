//! Tables → Rust source: an engine as `static` data, for build scripts.

use core::fmt::{self, Display, Write};

use crate::hash::{DisplacedHash, HINTS, Method, PerfectHash};
use crate::list::{Span, Text};
use crate::tables::{
    ApiRow, Edge, MethodColumn, Node, OtherWord, Outline, Outlines, Prefix, RouteRow, Run,
    ScopeRow, Shape, Tables, Terms, Variants, Word, WordRow,
};
use crate::terms::{OrganisationRule, Place, Profile};

/// An expression of type `&'static orbgate::Engine` that builds these tables at compile time.
pub(crate) fn engine(tables: &Tables) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        "{{\n\
         // Generated from a policy file by orbgate's build script; do not edit.\n\
         #[allow(unused_imports, reason = \"a policy may need none of some kind\")]\n\
         use ::orbgate::generated::*;\n\
         static ENGINE: Engine = Engine::from_tables({});\n\
         &ENGINE\n\
         }}\n",
        Code(tables)
    );
    out
}

/// A value as the Rust expression that makes it.
trait Expression {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

struct Code<'a, T: ?Sized>(&'a T);

impl<T: Expression + ?Sized> Display for Code<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.write(f)
    }
}

/// Writes a struct as its literal, field by field, so that a field cannot be forgotten.
macro_rules! expression {
    ($($type:ident { $($field:ident),* $(,)? })*) => {$(
        impl Expression for $type {
            fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let Self { $($field),* } = self;
                write!(f, "{} {{ ", stringify!($type))?;
                $(write!(f, "{}: {}, ", stringify!($field), Code($field))?;)*
                f.write_str("}")
            }
        }
    )*};
}

expression! {
    Tables {
        digest, profile, name, prefix, words, word_rows, others, position_shares, parameter_shares, shapes, outlines, nodes, edges, methods,
        method_factor, method_words, shape_routes, routes, scopes, scope_ids, scope_routes, apis, headings, text,
    }
    Run { start, length }
    Span { start, length }
    Place { line, column }
    Prefix { text, first, last, segments, first_share }
    Word { first, last, key, tag, symbol }
    WordRow { text, lengths, others }
    OtherWord { text, lengths, symbol }
    Shape { key, id, first_route, columns }
    Outlines { hints, depth, below, lengths, variants, rows, others, is_complete }
    Variants { parameters, are_more }
    Outline { text, routes, scopes, first_route, has_amounts, is_alone }
    Node { edges, parameter, shape }
    Edge { symbol, node, text }
    Method { letters, length }
    MethodColumn { method, column }
    RouteRow { method, text, template, scope, terms, place }
    Terms { scope, organisation, orbs }
    ScopeRow { terms, permits, api, routes, place }
    ApiRow { name }
}

/// Writes a value as its own literal.
macro_rules! literal {
    ($($type:ty)*) => {$(
        impl Expression for $type {
            fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{self:?}")
            }
        }
    )*};
}

literal! { u8 u16 u32 u64 bool [u8; 16] [u8; 32] [u8; 64] [u16; 8] [u16; 16] [u16; HINTS] [u32; 8] [u64; 2] [u64; 8] }

impl Expression for i64 {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            // Its literal would be read as the negation of a number that does not fit.
            Self::MIN => f.write_str("i64::MIN"),
            other => write!(f, "{other}"),
        }
    }
}

impl<T: Expression> Expression for Option<T> {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            None => f.write_str("None"),
            Some(value) => write!(f, "Some({})", Code(value)),
        }
    }
}

impl<T: Expression> Expression for crate::list::List<T> {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("List::Static(&[")?;
        self.iter()
            .try_for_each(|item| writeln!(f, "{},", Code(item)))?;
        f.write_str("])")
    }
}

impl Expression for Text {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: &str = match self {
            Self::Static(all) => all,
            Self::Owned(all) => all,
        };
        write!(f, "Text::Static({all:?})")
    }
}

impl<T: Expression> Expression for PerfectHash<T> {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            seed,
            pilots,
            slots,
        } = self;
        write!(
            f,
            "PerfectHash {{ seed: {}, pilots: {}, slots: {} }}",
            Code(seed),
            Code(pilots),
            Code(slots)
        )
    }
}

impl<T: Expression> Expression for DisplacedHash<T> {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            seed,
            bucket_shift,
            slot_shift,
            displacements,
            slots,
        } = self;
        write!(
            f,
            "DisplacedHash {{ seed: {}, bucket_shift: {}, slot_shift: {}, displacements: {}, slots: {} }}",
            Code(seed),
            Code(bucket_shift),
            Code(slot_shift),
            Code(displacements),
            Code(slots)
        )
    }
}

impl Expression for Profile {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Profile::{self:?}")
    }
}

impl Expression for OrganisationRule {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OrganisationRule::{self:?}")
    }
}
