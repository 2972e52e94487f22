//! `layout.tsv` and `Layout.java`: the numbers on which bindings without a C compiler rely, for 64-bit pointers. They are those of the
//! header; a test of the C library compares `layout.tsv` with the compiler's.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};

use crate::files::Files;
use crate::header::Header;

const LIST: &str = "crates/orbgate-capi/layout.tsv";

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

/// Java doesn't use Arrow tables, and talks to gates in messages.
const NOT_IN_JAVA: [&str; 3] = ["Arrow", "OrbgateDecisionStrings", "ORBGATE_SECRET_"];

pub(crate) fn make(files: &mut Files, header: &Header) -> Result<()> {
    let layout = layout(header, &files.committed(LIST)?)?;
    files.whole("bindings/java/src/main/java/io/github/orbgate/Layout.java", java(&layout));
    files.whole(LIST, layout);
    Ok(())
}

/// A type of C: its size, which is its alignment unless it is a struct.
#[derive(Clone, Copy)]
struct Layout {
    size: usize,
    alignment: usize,
}

/// A struct with its fields and where each is.
struct Struct {
    name: String,
    layout: Layout,
    fields: Vec<(String, usize)>,
}

fn layout(header: &Header, before: &str) -> Result<String> {
    let constants = header.constants().into_iter();
    let mut lines: Vec<_> = constants.map(|(name, number)| format!("code\tORBGATE_{name}\t{number}")).collect();
    let structs = structs(header.text())?;
    for Struct { name, layout, fields } in &structs {
        lines.push(format!("size\t{name}\t{}", layout.size));
        lines.extend(fields.iter().map(|(field, offset)| format!("offset\t{name}.{field}\t{offset}")));
    }
    // What a first size or a packed field is, only the library knows: such a row is written once, and stays.
    for Struct { name, layout, fields } in &structs {
        if fields.first().is_some_and(|(field, _)| field == "struct_size") {
            let start = format!("first_size\t{name}\t");
            let row = before.lines().find(|line| line.starts_with(&start));
            lines.push(row.map_or_else(|| format!("{start}{}", layout.size), str::to_owned));
        }
    }
    lines.extend(before.lines().filter(|line| line.starts_with("packed\t")).map(str::to_owned));
    Ok(format!("{HEAD}{}\n", lines.join("\n")))
}

/// The structs of the header that have fields.
fn structs(header: &str) -> Result<Vec<Struct>> {
    let mut structs = Vec::<Struct>::new();
    let mut lines = header.lines().filter(|line| !line.trim_start().starts_with("///"));
    while let Some(line) = lines.next() {
        let line = line.strip_prefix("typedef ").unwrap_or(line);
        let Some(name) = line.strip_prefix("struct ").and_then(|line| line.strip_suffix(" {")) else { continue };
        let (mut end, mut alignment, mut fields) = (0_usize, 1, Vec::new());
        for field in lines.by_ref().take_while(|line| !line.starts_with('}')).filter(|line| !line.is_empty()) {
            let (field, of_field) =
                field_of(field.trim(), &structs).with_context(|| format!("{name}: what is `{field}`?"))?;
            let offset = end.next_multiple_of(of_field.alignment);
            fields.push((field, offset));
            end = offset + of_field.size;
            alignment = alignment.max(of_field.alignment);
        }
        let layout = Layout { size: end.next_multiple_of(alignment), alignment };
        structs.push(Struct { name: name.to_owned(), layout, fields });
    }
    Ok(structs)
}

/// A field's name and its type's layout.
fn field_of(line: &str, structs: &[Struct]) -> Option<(String, Layout)> {
    let scalar = |size| Layout { size, alignment: size };
    let line = line.split(" ///<").next()?.strip_suffix(';')?;
    if let Some((_, function)) = line.split_once("(*") {
        return Some((function.split(')').next()?.to_owned(), scalar(8)));
    }
    let (kind, name) = line.rsplit_once([' ', '*'])?;
    if line.contains('*') {
        return Some((name.to_owned(), scalar(8)));
    }
    let layout = match kind {
        "uint8_t" | "bool" => scalar(1),
        "uint16_t" => scalar(2),
        "uint32_t" | "int32_t" => scalar(4),
        "uint64_t" | "int64_t" | "size_t" => scalar(8),
        _ => structs.iter().find(|it| kind.strip_prefix("struct ") == Some(it.name.as_str()))?.layout,
    };
    Some((name.to_owned(), layout))
}

/// The same for Java: a class for each struct, a constant for each code, a function for each packed field.
fn java(layout: &str) -> String {
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
