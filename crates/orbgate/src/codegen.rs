//! Tables → Rust source: an engine as `static` data, for build scripts.

use crate::tables::Tables;

/// An expression of type `&'static orbgate::Engine` that builds these tables at compile time.
///
/// What derives `Debug` is written as Rust writes it; lists and texts do the same by hand.
pub(crate) fn engine(tables: &Tables) -> String {
    format!(
        "{{
// Generated from a policy file by orbgate's build script; do not edit.
#[allow(unused_imports, reason = \"a policy may need none of some kind\")]
use ::orbgate::generated::*;
static ENGINE: Engine = Engine::from_tables({tables:?});
&ENGINE
}}
"
    )
}
