//! Reads grants from a file, CSV or JSON lines, with every error and its place at once.

use csv::{ReaderBuilder, StringRecord, Trim};
use orbgate_ledger::many::{Place, Wrong, after};
use orbgate_ledger::{AccountId, Bucket, Grant, Id, Note, Orbs};
use orbgate_yaml::{Object, quoted};
use serde::{Deserialize, Deserializer};

use super::values::time;

/// A grant of a file, and its line.
pub(super) struct Row {
    pub(super) line: u64,
    pub(super) grant: Grant,
}

/// The columns of CSV, which are also the members of JSON. The first three are required.
const COLUMNS: [&str; 7] = ["account", "amount", "id", "bonus", "expires", "existing", "note"];
const REQUIRED: usize = 3;

/// The grants of a file, in its order, or what is wrong with it: `line:column: message` each. It is JSON lines if it begins with `{`, and
/// otherwise CSV with a line of names.
pub(super) fn read(bytes: &[u8], author: &Note) -> Result<Vec<Row>, Vec<String>> {
    let mut wrong = Wrong::default();
    let mut rows = match str::from_utf8(bytes) {
        Ok(text) => {
            let text = text.strip_prefix('\u{feff}').unwrap_or(text);
            if text.trim_start().starts_with('{') { of_json(text, &mut wrong) } else { of_csv(text, &mut wrong) }
        }
        Err(error) => {
            let before = String::from_utf8_lossy(bytes.get(..error.valid_up_to()).unwrap_or_default());
            wrong.add(after(START, &before), "this isn't UTF-8");
            Vec::new()
        }
    };
    wrong.found()?;
    for row in &mut rows {
        row.grant.author = author.clone();
    }
    Ok(rows)
}

const START: Place = (1, 1);

fn of_json(text: &str, wrong: &mut Wrong) -> Vec<Row> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Members {
        account: AccountId,
        amount: Orbs,
        id: Id,
        #[serde(default)]
        bonus: bool,
        #[serde(default, deserialize_with = "expires")]
        expires: Option<orbgate_ledger::Millis>,
        #[serde(default)]
        existing: bool,
        #[serde(default)]
        note: Note,
    }

    fn expires<'d, D: Deserializer<'d>>(from: D) -> Result<Option<orbgate_ledger::Millis>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        text.as_deref().map(time).transpose().map_err(serde::de::Error::custom)
    }

    let mut rows = Vec::new();
    for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
        if let Some(Object(read)) = wrong.json::<Object<Members>>(text, (line, 1)) {
            let bucket = if read.bonus { Bucket::Bonus } else { Bucket::Paid };
            let (expires_at, existing, note) = (read.expires, read.existing, read.note);
            let grant = Grant { bucket, expires_at, existing, note, ..Grant::new(read.id, read.account, read.amount) };
            rows.push(Row { line, grant });
        }
    }
    rows
}

fn of_csv(text: &str, wrong: &mut Wrong) -> Vec<Row> {
    let mut reader =
        ReaderBuilder::new().has_headers(false).flexible(true).trim(Trim::All).from_reader(text.as_bytes());
    let mut rows = Vec::new();
    let mut names: Option<Vec<Option<usize>>> = None;
    for record in reader.records() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                let line = error.position().map_or(1, csv::Position::line);
                wrong.add((line, 1), error);
                break;
            }
        };
        let (line, text) = record.position().map_or((1, text), |position| {
            let rest = usize::try_from(position.byte()).ok().and_then(|byte| text.get(byte..)).unwrap_or_default();
            // Empty lines belong to the record that follows.
            let begun = rest.trim_start_matches(['\r', '\n']);
            let (skipped, _) = rest.split_at_checked(rest.len().saturating_sub(begun.len())).unwrap_or_default();
            (after((position.line(), 1), skipped).0, begun)
        });
        let of = CsvRow { record: &record, line, text };
        match &names {
            None => {
                names = Some(of.names(wrong));
                if !wrong.is_empty() {
                    break;
                }
            }
            Some(names) => rows.extend(of.grant(names, wrong).map(|grant| Row { line, grant })),
        }
    }
    if names.is_none() && wrong.is_empty() {
        wrong.add(START, "the file is empty");
    }
    rows
}

/// A record of CSV, and the text that begins with it.
struct CsvRow<'r> {
    record: &'r StringRecord,
    line: u64,
    text: &'r str,
}

impl CsvRow<'_> {
    /// Which column each name is, by [`COLUMNS`].
    fn names(&self, wrong: &mut Wrong) -> Vec<Option<usize>> {
        let mut at = vec![None; COLUMNS.len()];
        for (number, name) in self.record.iter().enumerate() {
            match COLUMNS.iter().position(|known| *known == name).and_then(|column| at.get_mut(column)) {
                None => {
                    let known = COLUMNS.join(", ");
                    wrong.add(self.place(number), format!("{} is not one of {known}", quoted(name)));
                }
                Some(Some(_)) => wrong.add(self.place(number), format!("a second column `{name}`")),
                Some(place) => *place = Some(number),
            }
        }
        for (name, _) in COLUMNS.iter().zip(&at).take(REQUIRED).filter(|(_, at)| at.is_none()) {
            wrong.add((self.line, 1), format!("there is no column `{name}`"));
        }
        at
    }

    fn grant(&self, names: &[Option<usize>], wrong: &mut Wrong) -> Option<Grant> {
        let columns = names.iter().flatten().count();
        if self.record.len() != columns {
            let message = format!("{} values for {columns} columns", self.record.len());
            wrong.add(self.place(columns.min(self.record.len().saturating_sub(1))), message);
            return None;
        }
        let field = |column: usize| {
            let number = names.get(column).copied().flatten()?;
            Some((number, self.record.get(number)?))
        };
        macro_rules! value {
            ($column:literal, $read:expr, $default:expr) => {
                match field($column) {
                    Some((number, text)) => $read(text).map_err(|message| wrong.add(self.place(number), message)).ok(),
                    None => $default,
                }
            };
        }
        let account = value!(0, AccountId::new, None);
        let amount = value!(1, amount, None);
        let id = value!(2, Id::new, None);
        // Whatever else is wrong with the row.
        if let (Some(amount), Some((number, _))) = (amount, field(1)) {
            wrong.amount(amount, self.place(number));
        }
        if let (Some(id), Some((number, _))) = (&id, field(2)) {
            wrong.id(id.clone(), self.place(number));
        }
        let bonus = value!(3, flag, Some(false));
        let expires_at = value!(4, |text: &str| (!text.is_empty()).then(|| time(text)).transpose(), Some(None));
        let existing = value!(5, flag, Some(false));
        let note = value!(6, Note::new, Some(Note::default()));
        let bucket = if bonus? { Bucket::Bonus } else { Bucket::Paid };
        Some(Grant {
            bucket,
            expires_at: expires_at?,
            existing: existing?,
            note: note?,
            ..Grant::new(id?, account?, amount?)
        })
    }

    /// The line and column of a value, which quoted values before it can have moved. Only a quote that begins a value quotes.
    fn place(&self, number: usize) -> Place {
        let (mut left, mut begins, mut is_quoted) = (number, true, false);
        for (at, c) in self.text.char_indices() {
            if left == 0 {
                return after((self.line, 1), self.text.get(..at).unwrap_or_default());
            }
            if c == '"' && (begins || is_quoted) {
                // The second of two quotes begins again.
                (is_quoted, begins) = (!is_quoted, is_quoted);
                continue;
            }
            begins = c == ',' && !is_quoted;
            left = left.saturating_sub(usize::from(begins));
        }
        (self.line, 1)
    }
}

fn amount(text: &str) -> Result<Orbs, String> {
    match text.parse().ok().and_then(|amount| Orbs::new(amount).ok()) {
        None => Err(format!("{} is not an amount of orbs, an integer up to {}", quoted(text), Orbs::MAX)),
        Some(amount) => Ok(amount),
    }
}

fn flag(text: &str) -> Result<bool, String> {
    match text {
        "true" => Ok(true),
        "false" | "" => Ok(false),
        _ => Err(format!("{} is neither `true` nor `false`", quoted(text))),
    }
}
