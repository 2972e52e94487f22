//! Where and when a run was made.

use std::fs;
use std::process::Command;

/// Where and when a run was made.
pub struct Circumstances {
    pub date: String,
    pub cpu: String,
    pub cores: usize,
    pub system: String,
    pub rust: String,
    pub commit: String,
    pub command: String,
    pub repeats: usize,
}

impl Circumstances {
    pub fn here(command: String, repeats: usize) -> Self {
        let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split(':').nth(1));
        let read = |program: &str, arguments: &[&str]| {
            let output = Command::new(program).args(arguments).output().ok()?;
            Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        };
        let unknown = || "unknown".to_owned();
        Self {
            date: jiff::Zoned::now().date().to_string(),
            cpu: model.map_or_else(|| std::env::consts::ARCH.to_owned(), |name| name.trim().to_owned()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            rust: read("rustc", &["--version"]).unwrap_or_else(unknown),
            commit: read("git", &["describe", "--always", "--dirty"]).unwrap_or_else(unknown),
            command,
            repeats,
        }
    }

    /// `2026-01-31-amd-epyc`
    pub fn stem(&self) -> String {
        let words = self.cpu.split(|c: char| !c.is_ascii_alphanumeric());
        let words: Vec<_> = words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
        format!("{}-{}", self.date, words.join("-"))
    }
}
