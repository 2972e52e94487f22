//! `layout.tsv`: the numbers on which bindings without a C compiler rely, for 64-bit pointers.

use core::mem::offset_of;
use std::collections::BTreeMap;

use super::committed::compare;
use super::header::generated;
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
use crate::version::ABI_VERSION;

const HEAD: &str = "\
# What bindings without a C compiler rely on, where pointers have 64 bits. Made by `cargo xtask codes`.
# Sizes and codes never change, but a struct with a first_size grows at its end; offsets never change.
# kind	name	number, and of a packed field its lowest bit and how many it has
";

const JAVA: &str = "\
package io.github.orbgate;

/**
 * The numbers of the C ABI where pointers have 64 bits: codes, the fields of a packed decision, and of each struct its size and
 * where it has its fields. Made by {@code cargo xtask codes}; not to be edited.
 */
final class Layout {
    private Layout() {}

";

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

fn layout() -> String {
    let constants = constants().into_iter();
    let constants = constants.map(|(name, number)| format!("code\tORBGATE_{name}\t{number}"));
    let mut lines: Vec<_> = constants.collect();
    lines.extend(structs! {
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
    });
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
    format!("{HEAD}{}\n", lines.join("\n"))
}

/// Java doesn't use Arrow tables, and talks to gates in messages.
const NOT_IN_JAVA: [&str; 3] = ["Arrow", "OrbgateDecisionStrings", "ORBGATE_SECRET_"];

/// The same for Java: a class for each struct, a constant for each code, a function for each packed field.
fn java() -> String {
    let layout = layout();
    let rows = layout.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let rows =
        rows.filter(|row| !matches!(row[..], [_, name, ..] if NOT_IN_JAVA.iter().any(|start| name.starts_with(start))));
    let (mut structs, mut rest) = (BTreeMap::<_, Vec<_>>::new(), String::new());
    for row in rows {
        let mut constant = |of: &str, name: &str, number: &str| {
            let line = format!("        static final int {name} = {number};\n");
            structs.entry(of.to_owned()).or_default().push(line);
        };
        match row[..] {
            ["size", of, size] => constant(of, "SIZE", size),
            ["offset", field, offset] => {
                let (of, field) = field.split_once('.').unwrap();
                constant(of, &field.to_uppercase(), offset);
            }
            ["code", name, number] => {
                let name = name.strip_prefix("ORBGATE_").unwrap();
                rest.push_str(&format!("    static final int {name} = {number};\n"));
            }
            ["packed", name, low, bits] => {
                let mask = (1_u64 << bits.parse::<u32>().unwrap()) - 1;
                rest.push_str(&format!(
                    "\n    static int {name}(long packed) {{\n        return (int) (packed >> {low} & {mask:#x});\n    }}\n"
                ));
            }
            // Only the library needs first sizes.
            _ => {}
        }
    }
    let classes = structs.iter().map(|(name, lines)| {
        let name = name.strip_prefix("Orbgate").unwrap();
        format!("\n    static final class {name} {{\n{}    }}\n", lines.concat())
    });
    format!("{JAVA}{rest}{}}}\n", classes.collect::<String>())
}

fn first<T: Sized32>(name: &str) -> String {
    assert!(T::FIRST_SIZE <= size_of::<T>(), "{name} has shrunk");
    format!("first_size\t{name}\t{}", T::FIRST_SIZE)
}

/// The constants of the header without `ORBGATE_`: `ORBGATE_NAME = 1,` and `#define ORBGATE_NAME 1`.
pub(super) fn constants() -> Vec<(String, String)> {
    let constant = |line: &str| {
        let line = line.trim().trim_end_matches(',');
        let words = line.strip_prefix("#define ").unwrap_or(line).replace(" = ", " ");
        let (name, number) = words.split_once(' ')?;
        let (name, _) = (name.strip_prefix("ORBGATE_")?, number.parse::<u32>().ok()?);
        let is_version = name.starts_with("VERSION") || name.starts_with("ABI");
        (!is_version).then(|| (name.to_owned(), number.to_owned()))
    };
    let abi = ("ABI_VERSION".to_owned(), ABI_VERSION.to_string());
    let header = generated();
    [abi].into_iter().chain(header.lines().filter_map(constant)).collect()
}

#[test]
#[cfg(target_pointer_width = "64")]
fn the_layout_is_that_of_the_list() {
    compare("crates/orbgate-capi/layout.tsv", &layout());
}

#[test]
#[cfg(target_pointer_width = "64")]
fn the_layout_is_that_of_java() {
    compare("bindings/java/src/main/java/io/github/orbgate/Layout.java", &java());
}

/// Every struct of the header that has fields is listed, with its first size if it has one.
#[test]
fn every_struct_is_in_the_layout() {
    let layout = layout();
    let header = generated();
    let structs = header.lines().filter_map(|line| {
        let line = line.strip_prefix("typedef ").unwrap_or(line);
        line.strip_prefix("struct ")?.strip_suffix(" {")
    });
    let structs: Vec<_> = structs.collect();
    assert!(structs.len() >= 12, "{structs:?}");
    for name in structs {
        assert!(layout.contains(&format!("size\t{name}\t")), "{name} is not listed");
        let sized = layout.contains(&format!("offset\t{name}.struct_size\t0\n"));
        assert_eq!(layout.contains(&format!("first_size\t{name}\t")), sized, "{name}");
    }
    assert!(layout.lines().filter(|line| line.starts_with("code\t")).count() > 40);
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
