//! Keeps passwords out of errors. The connection string of a database can have one, and a slip near it, such as a comma in flow style,
//! makes a part of it a key or an item, which an error would quote.

use orbgate_yaml::Diagnostic;

/// What follows the beginning of a secret, by the number of its line from 0.
pub(super) struct Secrets {
    rests: Vec<(usize, String)>,
    /// A backtick near a secret would make a quotation of what isn't one.
    have_backtick: bool,
}

pub(super) fn of(text: &str) -> Secrets {
    let lines: Vec<&str> = text.lines().collect();
    let (mut rests, mut have_backtick) = (Vec::new(), false);
    for (number, line) in lines.iter().enumerate() {
        let Some(rest) = start(line).or_else(|| of_ledger(line)).and_then(|start| line.get(start..)) else { continue };
        rests.push((number, rest.to_owned()));
        have_backtick |= line.contains('`');
        // The lines that continue it count, also after a slip.
        let after = lines.iter().enumerate().skip(number.saturating_add(1)).filter(|_| start(line).is_some());
        for (number, next) in after.take_while(|(_, next)| indent(next) > indent(line) || !is_entry(next)) {
            rests.push((number, (*next).to_owned()));
            have_backtick |= next.contains('`');
        }
    }
    Secrets { rests, have_backtick }
}

/// Where a secret might begin: in a URL with a login, or after a keyword. The key `password_file` has none.
fn start(line: &str) -> Option<usize> {
    let lower = line.to_ascii_lowercase();
    let after = |word: &str, is_one: fn(&str) -> bool| {
        lower
            .match_indices(word)
            .map(|(at, word)| at.saturating_add(word.len()))
            .find(|after| lower.get(*after..).is_some_and(is_one))
    };
    let starts = [
        after("postgres", |_| true),
        after("//", |rest| rest.contains('@')),
        after("=", |_| true),
        after("password", |rest| !rest.starts_with("_file")),
    ];
    starts.into_iter().flatten().min()
}

/// Where the value of a key begins that has a connection string, or might by mistake.
fn of_ledger(line: &str) -> Option<usize> {
    let keys = ["ledger:", "db:"].into_iter();
    let starts = keys.filter_map(|key| line.find(key).map(|at| at.saturating_add(key.len())));
    starts.filter(|start| line.get(*start..).is_some_and(|rest| !rest.trim().is_empty())).min()
}

/// Whether a line begins as those of the configuration do, with a key.
fn is_entry(line: &str) -> bool {
    let key = line.trim_start().trim_start_matches(|letter: char| letter.is_ascii_lowercase() || letter == '_');
    key.len() < line.trim_start().len() && (key == ":" || key.starts_with(": "))
}

fn indent(line: &str) -> usize {
    line.len().saturating_sub(line.trim_start().len())
}

impl Secrets {
    /// Replaces what a message quotes, if it might be a part of a secret.
    pub(super) fn hide_in(&self, diagnostic: &mut Diagnostic) {
        let line = usize::try_from(diagnostic.location.line).unwrap_or(usize::MAX).saturating_sub(1);
        let here = self.rests.iter().any(|(number, _)| *number == line);
        let message = &mut diagnostic.message;
        // What the ledger says of a connection string has none.
        if message.starts_with("postgres: ") {
            return;
        }
        if here && self.have_backtick {
            message.truncate(message.find('`').unwrap_or(message.len()));
            message.push('…');
            return;
        }
        let pieces = message.split('`').enumerate().map(|(index, piece)| {
            let is_quoted = index & 1 == 1;
            if is_quoted && (start(piece).is_some() || here && self.has_part(piece)) { "…" } else { piece }
        });
        *message = pieces.collect::<Vec<_>>().join("`");
    }

    /// A quotation can be escaped, cut, or in other quotes, so its words count.
    fn has_part(&self, piece: &str) -> bool {
        let mut words = piece.split(|letter: char| letter.is_whitespace() || "'\"\\…".contains(letter));
        words.any(|word| !word.is_empty() && self.rests.iter().any(|(_, rest)| rest.contains(word)))
    }
}
