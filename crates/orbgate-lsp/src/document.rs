//! An open document: its type, its errors, and its last valid contents.

use core::ops::Range as Span;
use std::collections::BTreeMap;

use gen_lsp_types::Uri;
use orbgate::policy::Diagnostic;
use orbgate::{Engine, Location, Policy, Route, Scope};
use orbgate_analysis::{Code, Finding, Level, Levels, Suite, Text};

/// The type of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Policy,
    /// Test cases for a policy.
    Suite,
    /// Another type of file, which the server ignores.
    Other,
}

impl Format {
    /// The type of a document, from the first key of its format or else from its file name.
    pub(crate) fn of(uri: &str, text: &str) -> Self {
        let keys = text.split(['\n', '\r']).filter_map(|line| {
            let line = line.strip_prefix('\u{feff}').unwrap_or(line);
            let line = line.trim_start_matches(['"', '\'']);
            let (key, _) = line.split_once(':')?;
            Some(key.trim_end_matches(['"', '\'', ' ']))
        });
        let by_key = keys.filter_map(|key| match key {
            "orbgate" => Some(Self::Policy),
            "orbgate_test" => Some(Self::Suite),
            _ => None,
        });
        let name = uri.rsplit(['/', '\\']).next().unwrap_or_default();
        let stem = name.strip_suffix(".yaml").or(name.strip_suffix(".yml"));
        let by_name = || match stem {
            Some("policy") => Self::Policy,
            Some(stem) if stem.ends_with(".policy") => Self::Policy,
            Some("policy.test") => Self::Suite,
            Some(stem) if stem.ends_with(".policy.test") => Self::Suite,
            _ => Self::Other,
        };
        by_key.take(1).next().unwrap_or_else(by_name)
    }
}

/// An open document.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) uri: Uri,
    pub(crate) version: i32,
    pub(crate) text: Text,
    pub(crate) kind: Format,
    /// The errors and findings; `None` if the contents haven't been checked yet.
    pub(crate) checked: Option<Found>,
    /// The last valid contents.
    pub(crate) valid: Option<Valid>,
}

/// The errors in a document, or its likely mistakes.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The findings that no comment suppresses, at the levels in the settings.
    pub(crate) findings: Vec<Finding>,
    /// The codes for which findings might be missing.
    pub(crate) cut: Vec<Code>,
}

/// A policy without errors, and the locations of its routes and scopes.
#[derive(Debug)]
pub(crate) struct Valid {
    pub(crate) engine: Engine,
    /// The contents from which everything else was read.
    pub(crate) text: Text,
    /// The names, in document order.
    pub(crate) names: Vec<Name>,
    /// The location of each route and each scope.
    pub(crate) spans: BTreeMap<Named, Span<usize>>,
}

/// A route or a scope at its location in the policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    /// The position in the contents of [`Valid`], in bytes.
    pub(crate) span: Span<usize>,
    pub(crate) location: Location,
    pub(crate) of: Named,
}

/// A route or a scope, by its index in the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Named {
    /// [`Route::index`].
    Route(u32),
    /// [`Scope::index`].
    Scope(u16),
}

impl Document {
    pub(crate) fn new(uri: Uri, version: i32, text: String) -> Self {
        Self { kind: Format::of(&uri.0, &text), uri, version, text: Text::new(text), checked: None, valid: None }
    }

    /// Sets new contents.
    pub(crate) fn change(&mut self, version: i32, text: String) {
        self.version = version;
        self.kind = Format::of(&self.uri.0, &text);
        self.text = Text::new(text);
        self.checked = None;
    }

    /// Checks the contents, unless that was already done. Takes as long as reading a policy, making two engines,
    /// and lint.
    pub(crate) fn look(&mut self, levels: &Levels) {
        if self.checked.is_some() {
            return;
        }
        let text = self.text.as_str();
        let mut checked = Found::default();
        match self.kind {
            Format::Other => self.valid = None,
            Format::Suite => {
                self.valid = None;
                checked.diagnostics = Suite::from_bytes(text.as_bytes()).err().unwrap_or_default();
            }
            Format::Policy => match Policy::from_yaml(text) {
                Err(error) => checked.diagnostics = error.diagnostics().to_vec(),
                Ok(policy) => {
                    checked = lint(&policy, text, levels);
                    self.valid = Some(Valid::new(&policy, self.text.clone()));
                }
            },
        }
        self.checked = Some(checked);
    }

    /// The findings on the lines of a span.
    pub(crate) fn findings_on_the_lines(&self, span: &Span<usize>) -> impl Iterator<Item = &Finding> {
        let findings = self.checked.iter().flat_map(|checked| &checked.findings);
        findings.filter(move |finding| {
            let word = self.text.word(finding.location);
            let between = |from: usize, to: usize| self.text.slice(from..to).contains(['\n', '\r']);
            !between(word.end, span.start) && !between(span.end, word.start)
        })
    }
}

/// The results of lint.
fn lint(policy: &Policy, text: &str, levels: &Levels) -> Found {
    let findings = orbgate_analysis::lint(policy, text);
    let with_level = |mut finding: Finding| {
        finding.level = levels.of_finding(&finding)?;
        finding.suppressed.is_none().then_some(finding)
    };
    let counts = |code: &Code| levels.of(*code) > Some(Level::Note);
    Found {
        diagnostics: Vec::new(),
        findings: findings.list.into_iter().filter_map(with_level).collect(),
        cut: findings.cut.into_iter().filter(counts).collect(),
    }
}

impl Valid {
    fn new(policy: &Policy, text: Text) -> Self {
        let engine = Engine::new(policy);
        let name = |location: Location, of| Name { span: text.word(location), location, of };
        let routes = engine.routes();
        let routes = routes.map(|route| name(route.location(), Named::Route(route.index())));
        let scopes = engine.scopes_in_apis();
        let scopes = scopes.map(|in_api| name(in_api.location(), Named::Scope(in_api.scope().index())));
        let mut names: Vec<_> = routes.chain(scopes).collect();
        names.sort_by_key(|name| name.span.start);
        // For a scope of several apis, its first location.
        let spans = names.iter().rev();
        let spans = spans.map(|name| (name.of, name.span.clone())).collect();
        Self { engine, text, names, spans }
    }

    /// The name at a position in the contents: the nearest name in the valid contents that is spelt the same. So a
    /// name is known even while another line has an error.
    pub(crate) fn name_at(&self, text: &Text, byte: usize) -> Option<(&Name, Span<usize>)> {
        let (location, span) = word_at(text, byte)?;
        let written = text.slice(span.clone());
        let alike =
            self.names.iter().filter(|name| !written.is_empty() && self.text.slice(name.span.clone()) == written);
        let far = |name: &&Name| {
            let lines = name.location.line.abs_diff(location.line);
            (lines, name.location.column.abs_diff(location.column))
        };
        Some((alike.min_by_key(far)?, span))
    }

    pub(crate) fn route(&self, index: u32) -> Option<Route<'_>> {
        let mut routes = self.engine.routes();
        routes.find(|route| route.index() == index)
    }

    pub(crate) fn scope(&self, index: u16) -> Option<Scope<'_>> {
        let mut scopes = self.engine.scope_table();
        scopes.find(|scope| scope.index() == index)
    }

    /// The scope of a name: the scope itself, or the one that owns the route.
    pub(crate) fn scope_of(&self, name: Named) -> Option<Scope<'_>> {
        match name {
            Named::Route(index) => Some(self.route(index)?.scope()),
            Named::Scope(index) => self.scope(index),
        }
    }
}

/// The key or value around a byte, and its start. It starts after a space, a bracket or a comma.
fn word_at(text: &Text, byte: usize) -> Option<(Location, Span<usize>)> {
    let number = text.line_of(byte);
    let line = text.line(number)?;
    let number = u32::try_from(number).ok()?.saturating_add(1);
    let written = text.slice(line.clone());
    let mut column = 0_u32;
    let mut before = ' ';
    let mut end = 0_usize;
    for (at, character) in written.char_indices() {
        column = column.saturating_add(1);
        let starts = matches!(before, ' ' | '\t' | '[' | '{' | ',') && !" \t[],-:#".contains(character);
        before = character;
        let start = line.start.saturating_add(at);
        if !starts || start < end {
            continue;
        }
        let location = Location { line: number, column };
        let span = text.word(location);
        end = span.end;
        if span.start <= byte && byte <= span.end {
            return Some((location, span));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use gen_lsp_types::Uri;

    use super::{Document, Format, word_at};
    use orbgate_analysis::{Levels, Text};

    #[test]
    fn the_first_key_or_the_name_says_what_a_document_is() {
        for (uri, text, kind) in [
            ("file:///a/policy.yaml", "", Format::Policy),
            ("file:///a/shop.policy.yml", "", Format::Policy),
            ("file:///a/shop.yaml", "# x\norbgate: 1\n", Format::Policy),
            ("file:///a/shop.yaml", "\u{feff}\"orbgate\" : 1\r\n", Format::Policy),
            ("file:///a/shop.yaml", "x:\n  orbgate: 1\n", Format::Other),
            ("file:///a/shop.yaml", "orbgates: 1\n", Format::Other),
            ("file:///a/shop.policy.test.yaml", "", Format::Suite),
            ("file:///a/policy.yaml", "orbgate_test: 1\n", Format::Suite),
            ("file:///a/mypolicy.yaml", "a: b\n", Format::Other),
            ("untitled:Untitled-1", "orbgate: 1", Format::Policy),
        ] {
            assert_eq!(Format::of(uri, text), kind, "{uri} {text:?}");
        }
    }

    #[test]
    fn the_word_around_a_byte_is_found() {
        for (text, byte, expected) in [
            ("  - GET /a  # all\n", 6, "GET /a"),
            ("  - GET /a  # all\n", 4, "GET /a"),
            ("  - GET /a  # all\n", 10, "GET /a"),
            ("routes: [GET /a, 'POST /{b}']\n", 20, "'POST /{b}'"),
            ("routes: [GET /a, 'POST /{b}']\n", 3, "routes"),
            ("x:\n  read:items: {orbs: true}\n", 8, "read:items"),
            ("- route: GET /{id}\n", 12, "GET /{id}"),
            ("  read:a: {routes: [GET /a]}", 24, "GET /a"),
        ] {
            let text = Text::new(text.to_owned());
            let (_, span) = word_at(&text, byte).unwrap();
            assert_eq!(text.slice(span), expected);
        }
        for byte in [0, 2, 12, 99] {
            assert_eq!(word_at(&Text::new("  - a   # b\n".to_owned()), byte), None, "{byte}");
        }
    }

    #[test]
    fn the_last_sound_text_is_remembered() {
        let valid = "orbgate: 1\napis:\n  a:\n    base_path: ''\n    scopes:\n      s:\n        orbs: true\n        routes:\n          - GET /a\n          - GET /b\n";
        let uri = Uri("file:///policy.yaml".to_owned());
        let mut document = Document::new(uri, 1, valid.to_owned());
        document.look(&Levels::default());
        let names = document.valid.as_ref().unwrap().names.len();
        assert_eq!(names, 3);
        let invalid = valid.replace("  orbs: true\n", "  orbs: maybe\n        # more\n");
        document.change(2, invalid.clone());
        document.look(&Levels::default());
        assert_eq!(document.checked.as_ref().unwrap().diagnostics.len(), 1);
        let valid = document.valid.as_ref().unwrap();
        let (name, _) = valid.name_at(&document.text, invalid.find("/b").unwrap()).unwrap();
        assert_eq!(name.location.line, 10);
        document.change(3, "a: b\n".to_owned());
        document.look(&Levels::default());
        assert!(document.valid.is_some(), "its name is that of a policy");
    }
}
