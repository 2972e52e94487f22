//! `orbgate diff`: lists the changes in a new version of a policy, each with a request that shows
//! it.

use core::fmt::Write as _;
use std::collections::HashSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use orbgate::{Engine, Request, Token};
use orbgate_analysis::ask::answers::{self, DiffAnswer};
use orbgate_analysis::shown::code;
use orbgate_analysis::{Asked, Caller, Change, Cost, Rule, Verdict};
use serde::Serialize;

use crate::answer::short;
use crate::fail_on::{self, FailOn};
use crate::input;
use crate::output::{self, ALLOW, DENY, Exit, FAINT, STRONG, Stop, WARNING, one_line, print_json};
use crate::policy_file::{self, Source, in_file};

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// Active policy file; `-` is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) old: PathBuf,

    /// New policy file; `-` is standard input
    #[arg(required_unless_present = "against", conflicts_with = "against", value_hint = ValueHint::FilePath)]
    pub(crate) new: Option<PathBuf>,

    /// Compare one file with its version in this git commit
    #[arg(long, value_name = "COMMIT")]
    pub(crate) against: Option<String>,

    #[command(flatten)]
    pub(crate) fail_on: FailOn,

    /// Print one line of JSON
    #[arg(long, conflicts_with = "markdown")]
    pub(crate) json: bool,

    /// Print Markdown for a pull request comment
    #[arg(long)]
    pub(crate) markdown: bool,
}

/// The maximum size of changes in text output, in bytes. Even a short policy can have long ones.
const MOST_TEXT: usize = 16 << 20;

/// The maximum size of rows in Markdown, in bytes. GitHub comments have at most 65,536 characters.
const MOST_MARKDOWN: usize = 59_000;

pub(crate) fn run(arguments: &Arguments) -> Result<Exit, Stop> {
    let (old, new) = match (&arguments.against, &arguments.new) {
        (Some(commit), _) => {
            let old = committed(&arguments.old, commit)?;
            (old, Source::load(Some(&arguments.old))?)
        }
        (None, new) => {
            let old = Source::load(Some(&arguments.old))?;
            (old, Source::load(new.as_deref())?)
        }
    };
    let compared = Compared::new(&old, &new);
    let fails = arguments.fail_on.fails(&compared.answer);
    if arguments.json {
        print_json(&DiffAnswer { compared: &compared.answer, fails: &fails })?;
    } else if arguments.markdown {
        let page = markdown(&compared, MOST_MARKDOWN);
        let why = fail_on::verdict(&fails);
        let why = format!("\n{why}\n").repeat(usize::from(!why.is_empty()));
        output::print_page(|out| out.write_all((page + &why).as_bytes()))?;
    } else {
        output::print(|out| {
            text(out, &compared, &old, &new)?;
            match fail_on::verdict(&fails).as_str() {
                "" => Ok(()),
                why => writeln!(out, "\n{DENY}{why}{DENY:#}"),
            }
        })?;
    }
    compared.complete()?;
    Ok(match fails.is_empty() {
        true => Exit::Fine,
        false => Exit::Findings,
    })
}

fn committed(path: &Path, commit: &str) -> Result<Source, Stop> {
    let bytes = input::committed(path, commit).map_err(Stop::Error)?;
    let name = format!("{commit}:{}", path.display());
    match policy_file::parse(&bytes) {
        Ok(policy) => Ok(Source::new(name, &policy)),
        Err(diagnostics) => Err(Stop::Diagnostics(in_file(&name, &diagnostics))),
    }
}

#[derive(Serialize)]
#[serde(transparent)]
pub(crate) struct Compared<'o, 'n> {
    pub(crate) answer: answers::Compared<'o, 'n>,
    #[serde(skip)]
    engines: (&'o Engine, &'n Engine),
}

impl<'o, 'n> Compared<'o, 'n> {
    pub(crate) fn new(old: &'o Source, new: &'n Source) -> Self {
        let (old, new) = (old.engine(), new.engine());
        Self { answer: answers::Compared::new(old, new), engines: (old, new) }
    }

    /// Fails if not everything was compared.
    pub(crate) fn complete(&self) -> Result<(), Stop> {
        let message = "too many templates overlap: not everything was compared";
        match self.answer.diff.complete {
            true => Ok(()),
            false => Err(Stop::Error(message.to_owned())),
        }
    }

    /// The verdict as a word and as a sentence.
    fn verdict(&self) -> (&'static str, String) {
        let Some(verdict) = self.answer.diff.verdict() else {
            return ("unknown", "not everything was compared".to_owned());
        };
        let changes = &self.answer.diff.changes;
        let counted = |is: &dyn Fn(&Change<'_, '_>) -> bool, noun: &str| {
            let number = changes.iter().filter(|change| is(change)).count();
            (number > 0).then(|| format!("{number} {noun}"))
        };
        let cost = |cost: Cost| counted(&|change| change.cost == Some(cost), cost.as_str());
        // Two changes can concern the same removed route.
        let gone = changes.iter().filter(|change| change.removed);
        let gone = gone.filter_map(|change| change.before);
        let gone: HashSet<_> = gone.map(|rule| (rule.route.map(|route| route.index()), rule.scope.name())).collect();
        let removed = gone.len();
        let counts = [
            counted(&|change| change.wider.is_some(), "wider"),
            counted(&|change| change.narrower.is_some(), "narrower"),
            cost(Cost::Less),
            cost(Cost::More),
            cost(Cost::Unknown),
            (removed > 0).then(|| format!("{removed} removed")),
        ];
        let left_out = self.answer.diff.left_out;
        let left_out = (left_out > 0).then(|| format!("{left_out} more not listed"));
        let counts: Vec<_> = counts.into_iter().flatten().chain(left_out).collect();
        let counts = match counts.as_slice() {
            [] if self.answer.old == self.answer.new => "the same policy".to_owned(),
            [] => "no call is allowed, denied or charged otherwise".to_owned(),
            _ => counts.join(", "),
        };
        (verdict.as_str(), counts)
    }
}

pub(crate) fn text(out: &mut dyn Write, compared: &Compared<'_, '_>, old: &Source, new: &Source) -> io::Result<()> {
    let style = match compared.answer.diff.verdict() {
        Some(Verdict::Equivalent) => ALLOW,
        Some(Verdict::Narrower) => STRONG,
        _ => WARNING,
    };
    let (verdict, counts) = compared.verdict();
    let digests = [compared.answer.old, compared.answer.new].map(short).join(" -> ");
    writeln!(out, "{style}{verdict}{style:#}: {counts}; {digests}")?;
    let left_out = compared.answer.diff.left_out;
    let all = compared.answer.diff.changes.len().saturating_add(left_out);
    let (mut room, mut left) = (MOST_TEXT, all);
    let in_json = match left_out {
        0 => "all".to_owned(),
        _ => compared.answer.diff.changes.len().to_string(),
    };
    for change in &compared.answer.diff.changes {
        let mut lines = Vec::new();
        change_text(&mut lines, change, old, new)?;
        let Some(rest) = room.checked_sub(lines.len()) else {
            break;
        };
        room = rest;
        left = left.saturating_sub(1);
        out.write_all(&lines)?;
    }
    match left {
        0 => Ok(()),
        left => writeln!(out, "\nand {left} more: `--json` lists {in_json}"),
    }
}

fn change_text(out: &mut dyn Write, change: &Change<'_, '_>, old: &Source, new: &Source) -> io::Result<()> {
    let style = if change.widens() { DENY } else { STRONG };
    let words: Vec<_> = change.labels().collect();
    let words = words.join(", ");
    writeln!(out, "\n{style}{words}{style:#}: {}", change.asked)?;
    let mut line = |label: &str, text: &str| writeln!(out, "  {FAINT}{label:<10}{FAINT:#}  {}", one_line(text));
    for (label, rule, source) in [("before", &change.before, old), ("after", &change.after, new)] {
        match rule {
            Some(rule) => line(label, &format!("{rule} ({})", source.at(rule.location())))?,
            None => line(label, &denied(&change.asked, source.engine()))?,
        }
    }
    for (label, _, caller) in witnesses(change) {
        line(label, &command(&change.asked, caller, new.name()))?;
    }
    Ok(())
}

/// Why a policy denies this to all callers.
fn denied(asked: &Asked, engine: &Engine) -> String {
    let token = Some(Token::user(""));
    let decision = match asked {
        Asked::Scope(name) => engine.decide_scope(name, token, false),
        Asked::Call { method, target } => engine.decide(&Request {
            method: method.as_bytes(),
            target: target.as_bytes(),
            token,
            allow_bonus_orbs_use: false,
        }),
    };
    let detail = decision.detail().map(|detail| format!(" ({detail})"));
    format!("denied to everybody: {}{}", decision.reason(), detail.unwrap_or_default())
}

/// The caller that shows the change: its name, and the decisions of both policies.
fn witnesses<'c>(change: &'c Change<'_, '_>) -> impl Iterator<Item = (&'static str, &'static str, &'c Caller)> {
    let cost = change.cost.map_or("", Cost::as_str);
    let all = [
        ("wider", "deny → allow", &change.wider),
        ("narrower", "allow → deny", &change.narrower),
        (cost, "allow", &change.payer),
    ];
    all.into_iter().filter_map(|(word, answers, caller)| Some((word, answers, caller.as_ref()?)))
}

/// The command that decides the same request with the new policy.
fn command(asked: &Asked, caller: &Caller, policy: &str) -> String {
    let mut words = match asked {
        Asked::Call { method, target } => vec!["orbgate", "decide", method, target],
        Asked::Scope(name) => vec!["orbgate", "decide", "--scope", name],
    };
    words.extend(["--token", caller.kind.as_str()]);
    if !caller.scopes.is_empty() {
        words.extend(["--scopes", &caller.scopes]);
    }
    words.extend(["--policy", policy]);
    // A program's arguments never contain NUL.
    shlex::try_join(words).unwrap_or_default()
}

/// Output for a pull request comment, with rows up to a number of bytes.
pub(crate) fn markdown(compared: &Compared<'_, '_>, most: usize) -> String {
    let (verdict, counts) = compared.verdict();
    let mut page = format!("### Policy: {verdict}\n\n{counts}");
    if compared.answer.diff.widens() {
        page.push_str(". **Somebody may do more, or for less.**");
    }
    page.push('\n');
    let mut left = compared.answer.diff.changes.len();
    if left > 0 {
        page.push_str("\n| Change | Call | Before | After | Shown by |\n| --- | --- | --- | --- | --- |\n");
    }
    for change in &compared.answer.diff.changes {
        let row = row(change, compared.engines);
        if page.len().saturating_add(row.len()) > most {
            break;
        }
        page.push_str(&row);
        left = left.saturating_sub(1);
    }
    if left > 0 {
        // Writing to a string can't fail.
        let _ = writeln!(page, "\nand {left} more: `orbgate diff` lists all");
    }
    let _ = writeln!(page, "\n`{}` → `{}`", short(compared.answer.old), short(compared.answer.new));
    page
}

fn row(change: &Change<'_, '_>, (old, new): (&Engine, &Engine)) -> String {
    let rule = |rule: &Option<Rule<'_>>, engine| match rule {
        Some(rule) => rule_cell(rule),
        None => denied(&change.asked, engine).replace(" to everybody", ""),
    };
    let shown: Vec<_> =
        witnesses(change).map(|(_, answers, caller)| format!("{}: {answers}", caller_cell(caller))).collect();
    let words: Vec<_> = change.labels().collect();
    let mut words = words.join(", ");
    if change.widens() {
        words = format!("**{words}**");
    }
    let cells = [
        words,
        code(&change.asked.to_string()),
        rule(&change.before, old),
        rule(&change.after, new),
        shown.join("<br>"),
    ];
    format!("| {} |\n", cells.join(" | "))
}

fn rule_cell(rule: &Rule<'_>) -> String {
    let orbs = crate::table::orb_column(rule.orbs());
    let needed: Vec<_> = match rule.requirement() {
        Some(requirement) => requirement.alternatives().map(|scopes| code(&scopes.to_string())).collect(),
        None => vec![code(rule.scope.name())],
    };
    let mut cell = format!("{}, orbs: {orbs}", needed.join(" or "));
    if let Some(organisation) = rule.scope.organisation() {
        let _ = write!(cell, ", organisation: {}", organisation.as_str());
    }
    let _ = write!(cell, " (line {})", rule.location().line);
    match rule.route {
        Some(route) => format!("{}: {cell}", code(route.as_str())),
        None => cell,
    }
}

fn caller_cell(caller: &Caller) -> String {
    let kind = caller.kind.as_str();
    match caller.scopes.as_str() {
        "" => format!("{kind} without scopes"),
        scopes => format!("{kind} with {}", code(scopes)),
    }
}

const HELP: &str = "\
What the new policy is to the old one, for callers:
  equivalent    every call is allowed to the same callers
  wider         some call is allowed to more callers, none to fewer
  narrower      some call is allowed to fewer callers, none to more
  incomparable  both
Every change has a request that shows it, and what calls cost is compared for
those whom both policies allow them. Every request is covered, not only those
that are listed. Files that differ only in order, comments, layout or the
names of parameters are equivalent. The text output lists changes up to 16 MiB,
and then the number of remaining changes; --json lists all.

The last line lists the kinds of changes that fail, in --json `fails`.
Kinds of --fail-on are `wider`, `narrower`, `cheaper`, `costlier`, `other-cost`
(an amount is not stated) and `removed`. Without it, and without --allow-wider,
`wider`, `cheaper` and `other-cost` fail.

With --json, `wider`, `narrower` and `payer` of a change are null or a request
as `orbgate replay` reads it.

Examples:
  orbgate diff policy.yaml next.yaml
  orbgate diff policy.yaml --against main --markdown
  orbgate diff policy.yaml next.yaml --fail-on wider,cheaper,removed
  orbgate diff policy.yaml next.yaml --json |
      jq -c '.changes[].wider | values' | orbgate replay --policy next.yaml

Exit codes:
  0  nothing is wider or cheaper, or of the kinds of --fail-on, or
     --allow-wider was given
  1  a call is allowed to more callers, or may consume less, or a change is of
     the kinds of --fail-on
  2  could not run: bad usage, a bad or unreadable policy, or too many
     templates that overlap to compare all of them";
