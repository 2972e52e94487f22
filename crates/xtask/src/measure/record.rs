//! What a measurement of xtask's own writes down: `benches/record/<date>-<processor>-<what>.md`, which pages link.

use std::fs;
use std::thread;

use anyhow::Result;

use crate::kit::program::Program;

/// Writes a table with when, where and by which command it was measured.
pub(crate) fn write(what: &str, title: &str, table: &str) -> Result<()> {
    let date = Program::parse("date +%F").read()?.trim().to_owned();
    let commit = Program::parse("git describe --always --dirty").read()?;
    let processor = processor();
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let file = format!("benches/record/{}-{what}.md", stem(&date, &processor));
    let commit = commit.trim();
    let command = command_line();
    let text = format!(
        "# {title}, {date}\n\n{processor}, {cores} cores; commit {commit}; {command}\n\n{table}"
    );
    fs::write(&file, text)?;
    println!("recorded in {file}");
    Ok(())
}

/// `2026-01-31-amd-epyc`, as the records of `cargo xtask bench` are called.
fn stem(date: &str, processor: &str) -> String {
    let words = processor.split(|c: char| !c.is_ascii_alphanumeric());
    let words = words.filter(|word| !word.is_empty()).map(str::to_lowercase);
    let words: Vec<_> = [date.to_owned()].into_iter().chain(words).collect();
    words.join("-")
}

fn processor() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let mut lines = info.lines();
    let model = lines.find_map(|line| line.strip_prefix("model name")?.split(':').nth(1));
    model.map_or_else(
        || std::env::consts::ARCH.to_owned(),
        |name| name.trim().to_owned(),
    )
}

fn command_line() -> String {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    format!("`cargo xtask {}`", arguments.join(" "))
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_record_is_called_after_day_and_processor() {
        let stem = super::stem("2026-01-31", "Intel(R) Xeon(R) Processor");
        assert_eq!(stem, "2026-01-31-intel-r-xeon-r-processor");
    }
}
