//! The codes of lint, each with its level and one sentence, and settings of other levels.

use std::collections::BTreeMap;

use orbgate_yaml::quoted;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Information.
    Note,
    /// A likely mistake.
    Warning,
    /// A certain mistake.
    Error,
}

impl Level {
    /// All levels, the lowest first.
    pub const ALL: [Self; 3] = [Self::Note, Self::Warning, Self::Error];

    /// The level in lower case.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

orbgate::codes! {
    /// The codes of lint. A later release can add a code, but never renames or removes one.
    #[derive(PartialOrd, Ord)]
    #[non_exhaustive]
    pub enum Code {
        Overlap: "overlap", "two routes with the same method match the same path, but need different scopes or orbs",
            Row::new(Level::Warning).decides();
        ShadowedRoute: "shadowed_route", "some paths of a route are denied, because a more specific template lacks its method", Row::new(Level::Warning);
        InferenceElsewhere: "inference_elsewhere", "an inference scope is in an API that accepts any token", Row::new(Level::Error);
        UnstatedGet: "unstated_get", "a call that only reads consumes orbs without a stated amount", Row::new(Level::Warning);
        UnstatedAmount: "unstated_amount", "a route consumes orbs without a stated amount, and others of its scope state theirs", Row::new(Level::Note);
        SimilarScopes: "similar_scopes", "two scopes differ in one character", Row::new(Level::Warning);
        CaseOrPlural: "case_or_plural", "two names differ only in case or plural", Row::new(Level::Warning);
        ColonLiteral: "colon_literal", "a literal looks like a parameter of another format",
            Row::new(Level::Warning).decides().mended_by(Mend::Parameters);
        ForeignTemplate: "foreign_template", "a path is written as in the route table of a web framework, and means something else here", Row::new(Level::Warning);
        RepeatedBasePath: "repeated_base_path", "a route begins with the base path, which comes before every route", Row::new(Level::Warning);
        SimilarLiterals: "similar_literals", "two literals of paths differ in one character", Row::new(Level::Warning);
        UnknownMethod: "unknown_method", "a method isn't a standard HTTP method", Row::new(Level::Warning);
        ScopeWithoutRoutes: "scope_without_routes", "a scope has no route", Row::new(Level::Note);
        NoPermits: "no_permits", "a scope has no description", Row::new(Level::Note);
        RepeatedRequirement: "repeated_requirement", "a route states what it needs, although its scope states the same", Row::new(Level::Note);
        NoEndMarker: "no_end_marker", "the file has no end marker (`...`), so a truncated copy looks complete",
            Row::new(Level::Note).mended_by(Mend::EndMarker);
        BadSuppression: "bad_suppression", "a suppression lacks a known code or a reason", Row::new(Level::Error).about_suppressions();
        UnusedSuppression: "unused_suppression", "a suppression has no matching finding",
            Row::new(Level::Warning).about_suppressions().mended_by(Mend::Suppression);
    }
    #[doc(hidden)]
    fn row -> Row;
}

/// What follows from a code. Whoever adds one says all of it in its row.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Row {
    level: Level,
    decides: bool,
    about_suppressions: bool,
    mend: Option<Mend>,
}

/// How a finding can be mended without a decision of the author.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mend {
    EndMarker,
    Suppression,
    Parameters,
}

impl Row {
    const fn new(level: Level) -> Self {
        Self { level, decides: false, about_suppressions: false, mend: None }
    }

    const fn decides(self) -> Self {
        Self { decides: true, ..self }
    }

    const fn about_suppressions(self) -> Self {
        Self { about_suppressions: true, ..self }
    }

    const fn mended_by(self, mend: Mend) -> Self {
        Self { mend: Some(mend), ..self }
    }
}

impl Code {
    /// The page that describes the codes, each under a heading of its name.
    pub const PAGE: &str = "https://github.com/orbgate/orbgate/blob/main/docs/lint.md";

    /// The default level.
    #[must_use]
    pub const fn level(self) -> Level {
        self.row().level
    }

    /// Whether a finding affects which route decides.
    #[must_use]
    pub const fn decides(self) -> bool {
        self.row().decides
    }

    /// Whether a finding is about suppressions themselves, and can't be suppressed.
    pub(super) const fn about_suppressions(self) -> bool {
        self.row().about_suppressions
    }

    pub(super) const fn mend(self) -> Option<Mend> {
        self.row().mend
    }

    /// The code with this string.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.as_str() == name)
    }
}

/// Levels that override those of the codes; `None` means `off`. Of several for a code, the last counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Levels(pub(super) BTreeMap<Code, Option<Level>>);

impl Levels {
    /// Reads a setting: a code, and `error`, `warning`, `note` or `off`.
    ///
    /// # Errors
    ///
    /// Returns a message for an unknown code or level, with all that there are.
    pub fn read(code: &str, level: &str) -> Result<(Code, Option<Level>), String> {
        let code = Code::from_name(code).ok_or_else(|| {
            let codes = Code::ALL.map(Code::as_str).join(", ");
            format!("there is no code {}; the codes are {codes}", quoted(code))
        })?;
        let known = Level::ALL.into_iter().find(|known| known.as_str() == level);
        if known.is_none() && level != "off" {
            return Err(format!("there is no level {}; the levels are error, warning, note, off", quoted(level)));
        }
        Ok((code, known))
    }

    /// The level of a code; `None` if it is off.
    #[must_use]
    pub fn of(&self, code: Code) -> Option<Level> {
        self.0.get(&code).copied().unwrap_or(Some(code.level()))
    }
}

impl FromIterator<(Code, Option<Level>)> for Levels {
    fn from_iter<I: IntoIterator<Item = (Code, Option<Level>)>>(levels: I) -> Self {
        Self(levels.into_iter().collect())
    }
}

orbgate::texts!(Code Level);
