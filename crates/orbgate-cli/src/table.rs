//! `orbgate table`: prints the whole table as text, Markdown, CSV or JSON.

use std::borrow::Cow;
use std::io::{self, Write};

use clap::{Args, ValueEnum};
use csv::{Terminator, WriterBuilder};
use orbgate::{Engine, Orbs, Route, Scope, ScopeInApi};
use orbgate_analysis::shown::{code, prose, span};
use orbgate_analysis::{TableRow, table_rows};

use crate::answer::short;
use crate::output::{self, Exit, FAINT, STRONG, Stop, cell, count, one_line};
use crate::policy_file::Source;

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// Format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns, to read in a terminal
    Text,
    /// A table for GitHub, one route on each row
    Markdown,
    /// Comma-separated values (RFC 4180), one route on each row
    Csv,
    /// One JSON document
    Json,
}

pub(crate) fn run(arguments: &Arguments, source: &Source) -> Result<Exit, Stop> {
    let engine = source.engine();
    match arguments.format {
        Format::Text => output::print(|out| text(out, engine))?,
        Format::Markdown => output::print_page(|out| markdown(out, engine))?,
        Format::Csv => output::print_page(|out| csv(out, engine))?,
        Format::Json => output::print_json(&engine.table())?,
    }
    Ok(Exit::Fine)
}

/// The scopes of each api, in the order of the policy file.
fn apis(engine: &Engine) -> Vec<(&str, Vec<ScopeInApi<'_>>)> {
    let mut apis: Vec<(&str, Vec<ScopeInApi<'_>>)> = Vec::new();
    for scope in engine.scopes_in_apis() {
        match apis.last_mut() {
            Some((api, scopes)) if *api == scope.api() => scopes.push(scope),
            _ => apis.push((scope.api(), vec![scope])),
        }
    }
    apis
}

/// Orbs in a word: `no`, `yes`, an amount or `not stated`.
pub(crate) fn orb_column(orbs: Option<Orbs>) -> String {
    match orbs {
        None => "not stated".to_owned(),
        Some(Orbs::Free) => "no".to_owned(),
        Some(Orbs::Unstated) => "yes".to_owned(),
        Some(Orbs::Amount(amount)) => amount.to_string(),
    }
}

/// The kind of token that a scope applies to.
fn token_rule(scope: &Scope<'_>) -> String {
    match scope.organisation() {
        None => "any".to_owned(),
        Some(rule) => format!("user (organisation: {})", rule.as_str()),
    }
}

/// Aligned columns: each scope with its description, followed by its routes.
fn text(out: &mut dyn Write, engine: &Engine) -> io::Result<()> {
    let scopes = engine.scope_table();
    let name = engine.name().map_or(Cow::Borrowed("without a name"), one_line);
    writeln!(
        out,
        "policy {STRONG}{name}{STRONG:#}: {}, {}, target {}, {}",
        count(scopes.len(), "scope"),
        count(engine.routes().len(), "route"),
        engine.target().as_str(),
        short(engine.digest()),
    )?;
    let own = scopes.map(|scope| scope.name().chars().count()).max().unwrap_or(0);
    let width = own.max("SCOPE".len());
    for (api, scopes) in apis(engine) {
        let token = scopes.first().map(|first| token_rule(&first.scope()));
        writeln!(out, "\napi {STRONG}{}{STRONG:#}, token: {}", one_line(api), token.unwrap_or_default())?;
        writeln!(out, "  {FAINT}{:width$}  {:10}  PERMITS, ROUTES{FAINT:#}", "SCOPE", "ORBS")?;
        for in_api in scopes {
            let scope = in_api.scope();
            let permits = scope.permits().map_or(Cow::Borrowed("-"), one_line);
            let (name, orbs) = (scope.name(), orb_column(scope.orbs()));
            writeln!(out, "  {STRONG}{name:width$}{STRONG:#}  {orbs:10}  {permits}")?;
            let mut routes = in_api.routes().peekable();
            if routes.peek().is_none() {
                writeln!(out, "  {:width$}  {:10}  {FAINT}no route{FAINT:#}", "", "")?;
            }
            for route in routes {
                let orbs = orb_column(Some(route.orbs()));
                let needs = alternatives(route).join(" or ");
                let needs = if needs.is_empty() { needs } else { format!("  {FAINT}needs {needs}{FAINT:#}") };
                writeln!(out, "  {:width$}  {orbs:10}  {}{needs}", "", route.as_str())?;
            }
        }
    }
    let closed: Vec<_> = engine.closed().map(|closed| one_line(closed.template())).collect();
    if !closed.is_empty() {
        writeln!(out, "\nclosed, with no method: {}", closed.join(", "))?;
    }
    let headings: Vec<_> = engine.headings().map(one_line).collect();
    if !headings.is_empty() {
        writeln!(out, "\nheadings with no route: {}", headings.join(", "))?;
    }
    Ok(())
}

/// The alternatives of a route, each a scope string; none if it needs just its scope.
fn alternatives(route: Route<'_>) -> Vec<String> {
    let requirement = Some(route.requirement()).filter(|requirement| !requirement.is_one_scope());
    requirement.iter().flat_map(|requirement| requirement.alternatives()).map(|scopes| scopes.to_string()).collect()
}

const COLUMNS: [&str; 10] =
    ["api", "scope", "orbs", "token", "permits", "route", "route_orbs", "heading", "scopes", "closed"];

/// The cells of a route, or of a scope without routes, and the alternatives of the route.
type Row = ([String; 7], Vec<String>);

/// One row for each route, and one for each scope without routes. Rows are built on demand, because they repeat the
/// scope's description.
fn rows(engine: &Engine) -> impl Iterator<Item = Row> {
    let row = |TableRow { scope, api, route }: TableRow<'_>| {
        let cells = [
            api.to_owned(),
            scope.name().to_owned(),
            orb_column(scope.orbs()),
            token_rule(&scope),
            scope.permits().unwrap_or_default().to_owned(),
            route.map_or_else(String::new, |route| route.as_str().to_owned()),
            route.map_or_else(String::new, |route| orb_column(Some(route.orbs()))),
        ];
        (cells, route.map(alternatives).unwrap_or_default())
    };
    table_rows(engine).map(row)
}

/// A table for GitHub, followed by the closed templates and the headings. Alternatives have a column only if a route has
/// any.
fn markdown(out: &mut dyn Write, engine: &Engine) -> io::Result<()> {
    let mut titles = vec!["API", "Scope", "Orbs", "Token", "Permits", "Route", "Orbs of the route"];
    let has_alternatives = engine.routes().any(|route| !route.requirement().is_one_scope());
    titles.extend(has_alternatives.then_some("Needs"));
    writeln!(out, "| {} |\n|{}", titles.join(" | "), " --- |".repeat(titles.len()))?;
    for ([api, scope, orbs, token, permits, route, route_orbs], needs) in rows(engine) {
        let mut cells = vec![prose(&api), code(&scope), orbs, token, prose(&permits), code(&route), route_orbs];
        let needs = needs.iter().map(|scopes| code(scopes)).collect::<Vec<_>>().join(" or ");
        cells.extend(has_alternatives.then_some(needs));
        writeln!(out, "| {} |", cells.join(" | "))?;
    }
    let closed: Vec<_> = engine.closed().map(|closed| span(closed.template())).collect();
    if !closed.is_empty() {
        writeln!(out, "\nClosed, with no method: {}", closed.join(", "))?;
    }
    let headings: Vec<_> = engine.headings().map(prose).collect();
    if !headings.is_empty() {
        writeln!(out, "\nHeadings with no route: {}", headings.join(", "))?;
    }
    writeln!(
        out,
        "\nPolicy: {}, target `{}`, `{}`",
        engine.name().map_or_else(|| "without a name".to_owned(), prose),
        engine.target().as_str(),
        engine.digest()
    )
}

/// Comma-separated values (RFC 4180), for spreadsheets. A cell that a spreadsheet would read as a formula is prefixed
/// with `'`. A heading has its own row, in which only its column is set, and a closed template one with its api.
fn csv(out: &mut dyn Write, engine: &Engine) -> io::Result<()> {
    let mut out = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(out);
    out.write_record(COLUMNS)?;
    for (row, alternatives) in rows(engine) {
        let more = [String::new(), alternatives.join(" or "), String::new()];
        out.write_record(row.iter().chain(&more).map(|field| cell(field).into_owned()))?;
    }
    for heading in engine.headings() {
        out.write_record(
            COLUMNS.map(|column| if column == "heading" { cell(heading) } else { Cow::Borrowed("") }.into_owned()),
        )?;
    }
    for closed in engine.closed() {
        let field = |column| match column {
            "api" => cell(closed.api()),
            "closed" => cell(closed.template()),
            _ => Cow::Borrowed(""),
        };
        out.write_record(COLUMNS.map(|column| field(column).into_owned()))?;
    }
    out.flush()
}

const HELP: &str = "\
Orbs are `no`, `yes` (consumes, the policy states no amount), an amount, or
`not stated`: a scope states none, or `false` although it has a paid route. A
route that needs more than its scope is listed with its alternatives: each is
enough, and its scopes are needed together.

Examples:
  orbgate table
  orbgate table --format markdown > scopes.md
  orbgate table --format json --policy policy.yaml | jq '.apis[].scopes[].scope'

Exit codes:
  0  fine
  2  could not run: bad usage, bad or unreadable policy";
