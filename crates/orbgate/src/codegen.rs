//! Tables → Rust source: an engine as `static` data, for build scripts.

use core::fmt::{self, Display, Write};

use crate::hash::{Ends, Method, Methods, PerfectHash, ScopeIds, Seed};
use crate::list::{Span, Text};
use crate::tables::{
    ApiRow, Literal, LiteralRow, Prefix, RouteRow, Run, ScopeRow, Spelling, Tables, Template,
    Terms, Tuple,
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
        digest, profile, name, prefix, positions, literal_rows, spellings, is_packed, fields, templates, tuple_runs,
        tuples, methods, template_routes, routes, scopes, scope_ids, scope_routes, apis, headings, text,
    }
    Run { start, length }
    Span { start, length }
    Place { line, column }
    Prefix { text, head, head_mask, tail, segments }
    Ends { head, tail }
    Literal { part, ends, length, id }
    LiteralRow { part, spellings, alike }
    Spelling { text, lengths }
    Tuple { literals, fields }
    Methods { multiplier, columns }
    Method { letters, length }
    Template { key, routes, scopes, id }
    RouteRow { text, template, scope, terms, place }
    Terms { scope, organisation, orbs }
    ScopeRow { terms, permits, api, routes, place }
    ScopeIds { seed, pilots, slots }
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

literal! { u16 u32 usize u64 u128 bool u8 }

impl<T: Expression, const N: usize> Expression for [T; N] {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        self.iter()
            .try_for_each(|item| write!(f, "{}, ", Code(item)))?;
        f.write_str("]")
    }
}

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
            displacements,
            slots,
            masks,
        } = self;
        write!(
            f,
            "PerfectHash {{ seed: {}, displacements: {}, slots: {}, masks: {} }}",
            Code(seed),
            Code(displacements),
            Code(slots),
            Code(masks)
        )
    }
}

impl Expression for Seed {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
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
