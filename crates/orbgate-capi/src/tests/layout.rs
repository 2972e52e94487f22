//! `layout.tsv` has the numbers of the compiler. `orbgate-generate` makes it of the header.

use core::mem::offset_of;
use std::collections::BTreeSet;

use crate::arguments::Sized32;
use crate::arrow::{ArrowArray, ArrowSchema};
use crate::batch::OrbgateBatch;
use crate::columns::OrbgateColumn;
use crate::decision::OrbgateDecision;
use crate::engine::OrbgateEngineInfo;
use crate::error::{OrbgateDiagnostic, OrbgateErrorInfo};
use crate::listing::{OrbgateRoute, OrbgateScope};
use crate::packed;
use crate::readback::OrbgateDecisionStrings;
use crate::route_id::OrbgateRouteId;
use crate::text::OrbgateStr;
use crate::token::OrbgateToken;

/// The lines of structs. If a field isn't listed, the test doesn't compile.
macro_rules! structs {
    ($($name:ident $({ $($field:ident)* })?)*) => {{
        let mut lines = Vec::new();
        $($(
            let _ = |it: $name| {
                let $name { $($field: _,)* } = it;
            };
            let name = stringify!($name);
            lines.push(format!("size\t{name}\t{}", size_of::<$name>()));
            $(
                let offset = offset_of!($name, $field);
                lines.push(format!("offset\t{name}.{}\t{offset}", stringify!($field)));
            )*
        )?)*
        lines
    }};
}

fn layout() -> Vec<String> {
    let mut lines = structs! {
        OrbgateStr { data len }
        OrbgateColumn { data data_len offsets }
        OrbgateDecision { effect reason detail charge http_status scope route about amount policy }
        OrbgateToken { struct_size kind scopes scopes_len scope_set }
        OrbgateBatch {
            struct_size flags len method target token kinds scopes scope_sets allow_bonus_orbs validity
            validity_offset
        }
        OrbgateDecisionStrings { struct_size reserved decision reason detail api route scope policy about allow }
        OrbgateEngineInfo {
            struct_size route_count scope_count has_end_marker is_sealed reserved digest name
        }
        OrbgateRouteId { high low }
        OrbgateRoute {
            struct_size number id text method path_template scope api amount charge scope_number line column
            methods
        }
        OrbgateScope { struct_size number name api permits organisation amount charge line column reserved }
        OrbgateErrorInfo { struct_size code line column diagnostic_count message path }
        OrbgateDiagnostic { struct_size line column reserved message }
        ArrowSchema { format name metadata flags n_children children dictionary release private_data }
        ArrowArray {
            length null_count offset n_buffers n_children buffers children dictionary release private_data
        }
    };
    lines.extend([
        first::<OrbgateToken>("OrbgateToken"),
        first::<OrbgateBatch>("OrbgateBatch"),
        first::<OrbgateDecisionStrings>("OrbgateDecisionStrings"),
        first::<OrbgateEngineInfo>("OrbgateEngineInfo"),
        first::<OrbgateRoute>("OrbgateRoute"),
        first::<OrbgateScope>("OrbgateScope"),
        first::<OrbgateErrorInfo>("OrbgateErrorInfo"),
        first::<OrbgateDiagnostic>("OrbgateDiagnostic"),
    ]);
    lines.extend(packed::FIELDS.iter().map(|(name, field)| format!("packed\t{name}\t{}\t{}", field.0, field.1)));
    lines
}

fn first<T: Sized32>(name: &str) -> String {
    assert!(T::FIRST_SIZE <= size_of::<T>(), "{name} has shrunk");
    format!("first_size\t{name}\t{}", T::FIRST_SIZE)
}

#[test]
#[cfg(target_pointer_width = "64")]
fn the_layout_is_that_of_the_list() {
    let list = include_str!("../../layout.tsv").lines();
    let list = list.filter(|line| !line.starts_with('#') && !line.starts_with("code\t"));
    let (list, layout): (BTreeSet<_>, _) = (list.collect(), layout());
    assert_eq!(BTreeSet::from_iter(layout.iter().map(String::as_str)), list, "to write it: cargo xtask codes");
}

/// Go's runtime aborts on a pointer into the first page, which Rust's own empty strings contain.
#[test]
fn an_empty_string_has_the_address_of_a_byte() {
    for empty in [OrbgateStr::new(""), OrbgateStr::of_bytes(&[]), OrbgateStr::optional(Some(""))] {
        assert_eq!(empty.len, 0);
        assert!(empty.data.addr() >= 4096, "{:?}", empty.data);
    }
    assert!(OrbgateStr::optional(None).data.is_null());
}
