//! `shapes.txt`: the table of all questions, answers and messages.

/// What a comment of each file says that is made of it.
pub(crate) const MADE: &str = "Made of crates/orbgate-generate/shapes.txt by `cargo xtask codes`; not to be edited.";

/// What stands between its halves.
const MESSAGES: &str = "\n== Messages\n";

/// The lines about questions, each with its number in the file.
pub(crate) fn questions() -> impl Iterator<Item = (usize, &'static str)> {
    half(0)
}

/// Those about the messages of gates.
pub(crate) fn messages() -> impl Iterator<Item = (usize, &'static str)> {
    half(1)
}

fn half(which: usize) -> impl Iterator<Item = (usize, &'static str)> {
    let table = include_str!("../shapes.txt");
    let end = table.find(MESSAGES).map_or(0, |at| table[..at].lines().count());
    let lines = table.lines().zip(1..).map(|(line, number)| (number, line));
    let lines = lines.filter(move |(number, _)| (*number > end + 1) == (which == 1));
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with(['#', '=']))
}

/// Reads a line, or names the place of what is wrong with it.
pub(crate) fn read<T>((number, line): (usize, &'static str), read: impl FnOnce(&'static str) -> Option<T>) -> T {
    read(line).unwrap_or_else(|| panic!("crates/orbgate-generate/shapes.txt:{number}: can't be read: {line}"))
}
