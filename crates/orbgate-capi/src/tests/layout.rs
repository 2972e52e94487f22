//! `layout.tsv`: the numbers that bindings without a C compiler rely on, where pointers have 64 bits.

use core::mem::offset_of;
use std::fs;
use std::path::Path;

use super::header::generated;
use crate::arguments::Sized32;
use crate::arrow::{ArrowArray, ArrowSchema};
use crate::batch::OrbgateBatch;
use crate::columns::OrbgateColumn;
use crate::decision::{OrbgateDecision, OrbgateDecisionText};
use crate::error::{OrbgateErrorInfo, OrbgateFault};
use crate::listing::{OrbgateRoute, OrbgateScope};
use crate::packed;
use crate::text::OrbgateStr;
use crate::token::OrbgateToken;
use crate::version::ABI_VERSION;

const HEAD: &str = "\
# What bindings without a C compiler rely on, where pointers have 64 bits. Made by `cargo xtask header`.
# Sizes and codes never change, but a struct with a first_size grows at its end; offsets never change.
# kind	name	number, and of a packed field its lowest bit and how many it has
";

/// The lines of structs. A field that is not listed does not compile.
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
    let mut lines = vec![format!("code\tORBGATE_ABI_VERSION\t{ABI_VERSION}")];
    lines.extend(structs! {
        OrbgateStr { data len }
        OrbgateColumn { data data_len offsets }
        OrbgateDecision { effect reason detail charge http_status scope route reserved amount policy }
        OrbgateToken { struct_size kind scopes scopes_len scope_set }
        OrbgateBatch {
            struct_size flags len method target token kinds scopes scope_sets allow_bonus_orbs validity
            validity_offset
        }
        OrbgateDecisionText { struct_size reserved decision reason detail api route scope policy }
        OrbgateRoute {
            struct_size number id text method path_template scope api amount charge scope_number line column
            methods
        }
        OrbgateScope { struct_size number name api permits organisation amount charge line column reserved }
        OrbgateErrorInfo { struct_size code line column fault_count message path }
        OrbgateFault { struct_size line column reserved message }
        ArrowSchema { format name metadata flags n_children children dictionary release private_data }
        ArrowArray {
            length null_count offset n_buffers n_children buffers children dictionary release private_data
        }
    });
    lines.extend([
        first::<OrbgateToken>("OrbgateToken"),
        first::<OrbgateBatch>("OrbgateBatch"),
        first::<OrbgateDecisionText>("OrbgateDecisionText"),
        first::<OrbgateRoute>("OrbgateRoute"),
        first::<OrbgateScope>("OrbgateScope"),
        first::<OrbgateErrorInfo>("OrbgateErrorInfo"),
        first::<OrbgateFault>("OrbgateFault"),
    ]);
    lines.extend(codes(&generated()));
    lines.extend(
        packed::FIELDS
            .iter()
            .map(|(name, field)| format!("packed\t{name}\t{}\t{}", field.0, field.1)),
    );
    format!("{HEAD}{}\n", lines.join("\n"))
}

fn first<T: Sized32>(name: &str) -> String {
    assert!(T::FIRST_SIZE <= size_of::<T>(), "{name} has shrunk");
    format!("first_size\t{name}\t{}", T::FIRST_SIZE)
}

/// The constants of the header: `ORBGATE_NAME = 1,` and `#define ORBGATE_NAME 1`.
fn codes(header: &str) -> Vec<String> {
    let code = |line: &str| {
        let line = line.trim().trim_end_matches(',');
        let words = line
            .strip_prefix("#define ")
            .unwrap_or(line)
            .replace(" = ", " ");
        let (name, number) = words.split_once(' ')?;
        let number: u32 = number.parse().ok()?;
        let is_version = name.starts_with("ORBGATE_VERSION") || name.starts_with("ORBGATE_ABI");
        (name.starts_with("ORBGATE_") && !is_version).then(|| format!("code\t{name}\t{number}"))
    };
    header.lines().filter_map(code).collect()
}

#[test]
#[cfg(target_pointer_width = "64")]
fn the_layout_is_that_of_the_list() {
    let layout = layout();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("layout.tsv");
    if std::env::var_os("ORBGATE_UPDATE").is_some() {
        fs::write(&path, &layout).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == layout,
        "layout.tsv is not what the crate says: cargo xtask header"
    );
}

/// Every struct of the header that has fields is listed, and its first size if it has one.
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
        assert!(
            layout.contains(&format!("size\t{name}\t")),
            "{name} is not listed"
        );
        let sized = layout.contains(&format!("offset\t{name}.struct_size\t0\n"));
        assert_eq!(
            layout.contains(&format!("first_size\t{name}\t")),
            sized,
            "{name}"
        );
    }
    assert!(
        layout
            .lines()
            .filter(|line| line.starts_with("code\t"))
            .count()
            > 40
    );
}
