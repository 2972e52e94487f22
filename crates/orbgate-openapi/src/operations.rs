//! A document's paths → its operations.

use std::rc::Rc;

use orbgate::{EARNED, Location, Orbs};
use orbgate_analysis::shown::lines;
use orbgate_yaml::{Entry, Node, quoted};

use crate::advice::Advice;
use crate::document::{EmptyPath, Need, Operation, PolicyFacts, below};
use crate::node::{
    Cause, FULL_SECURITY, METHODS, NoteKind, Problem, at, base_path, entries, get, location, malformed, orbs, text,
    urls, word,
};
use crate::parameters::several_segments;
use crate::part::MERGE;
use crate::security::{Found, Needed, Remark, Rules};
use crate::words::harmless;
use crate::{security, template};

/// The maximum number of operations in a document: the maximum number of routes in a policy.
const OPERATIONS: usize = 200_000;

pub(super) struct Reader<'r> {
    pub(super) rules: Rules<'r>,
    pub(super) advice: &'r Advice<'r>,
    /// What operations need that don't have their own `security`, read only once.
    pub(super) security: Option<Shared>,
    pub(super) names_scopes: bool,
    pub(super) servers: Option<&'r Node<'r>>,
    pub(super) base_path: &'r str,
    pub(super) policy: &'r PolicyFacts,
    pub(super) operations: Vec<Operation>,
    pub(super) empty: Vec<EmptyPath>,
}

/// What several operations need.
pub(super) type Shared = Result<(Rc<Needed>, Vec<Remark>), Problem>;

/// What `security` states. If a policy can't express it, the message names the options with which it could.
pub(super) fn of_security(security: &Node<'_>, rules: Rules<'_>, advice: &Advice<'_>) -> Shared {
    shared(security::needed(security, rules)).map_err(|mut problem| {
        if matches!(problem.kind, Cause::SeveralSchemes | Cause::OtherScheme)
            && let Some(advice) = advice.for_operation(security)
        {
            problem.message.extend(["; ", &advice]);
        }
        problem
    })
}

fn shared(result: Found) -> Shared {
    result.map(|(needed, remarks)| (Rc::new(needed), remarks))
}

impl Reader<'_> {
    pub(super) fn paths(&mut self, root: &Node<'_>) -> Result<(), (Location, String)> {
        // OpenAPI 3.1 allows a document without paths.
        let Some(paths) = get(root, "paths") else {
            return Ok(());
        };
        let Some(items) = entries(paths) else {
            return Err((location(paths), "`paths` must be a mapping".to_owned()));
        };
        for entry in items.iter().filter(|entry| !is_extension(&entry.key.text)) {
            self.path_item(entry);
            if self.operations.len() > OPERATIONS {
                let message = format!("over {OPERATIONS} operations, which is the limit");
                return Err((at(entry.key_location), message));
            }
        }
        Ok(())
    }

    fn path_item(&mut self, entry: &Entry<'_>) {
        let path = entry.key.text.as_ref();
        let item = &entry.value;
        if path == REFERENCE {
            let problem = reference(entry);
            self.leave_out(entry, None, path, problem);
            return;
        }
        let Some(keys) = entries(item) else {
            let problem = malformed(item, "a path item must be a mapping");
            self.leave_out(entry, None, path, problem);
            return;
        };
        if !path.starts_with('/') {
            let message = format!("path {} must start with `/`", quoted(path));
            let problem = Problem::new(Cause::Malformed, at(entry.key_location), message);
            self.leave_out(entry, None, path, problem);
            return;
        }
        // A reference might define the same methods, and a misplaced key might apply to all of them.
        if let Some(elsewhere) = keys.iter().find(|key| key.key.text == REFERENCE) {
            self.leave_out(elsewhere, None, path, reference(elsewhere));
            return;
        }
        if let Some(key) = keys.iter().find(|key| key.key.text == "security") {
            let message = "`security` has no place in a path item: write it in each operation";
            let problem = Problem::new(Cause::Malformed, at(key.key_location), message);
            self.leave_out(key, None, path, problem);
            return;
        }
        let own_servers = get(item, "servers");
        let before = self.operations.len();
        for key in keys {
            let name = key.key.text.as_ref();
            let method = METHODS.iter().find(|(known, _)| *known == name);
            match (name, method) {
                ("x-orbs-operations", _) => self.other_methods(key, path, item),
                (MERGE | "servers" | "summary" | "description" | "parameters", _) => {}
                (name, _) if is_extension(name) => {}
                (_, Some((_, method))) => self.operation(key, method, path, item),
                (name, None) => {
                    let message = format!("{} is not a method of OpenAPI", quoted(name));
                    let problem = Problem::new(Cause::Method, at(key.key_location), message);
                    let method = name.to_ascii_uppercase();
                    self.leave_out(key, Some(&method), path, problem);
                }
            }
        }
        if self.operations.len() == before {
            let (path, _) = without_fragment(path);
            let base_path = base_path(own_servers.or(self.servers)).ok().filter(|_| own_servers.is_some());
            self.empty.push(EmptyPath {
                location: at(entry.key_location),
                path: format!("{}{path}", base_path.as_deref().unwrap_or(self.base_path)),
                api: get(item, "x-orbs-api").and_then(word).map(str::to_owned),
                problem: None,
            });
        }
    }

    /// Methods for which OpenAPI has no key.
    fn other_methods(&mut self, entry: &Entry<'_>, path: &str, item: &Node<'_>) {
        let Some(operations) = entries(&entry.value) else {
            let problem = malformed(&entry.value, "`x-orbs-operations` must be a mapping");
            self.leave_out(entry, None, path, problem);
            return;
        };
        for entry in operations {
            self.operation(entry, &entry.key.text, path, item);
        }
    }

    fn leave_out(&mut self, entry: &Entry<'_>, method: Option<&str>, path: &str, problem: Problem) {
        let (path, fragment) = without_fragment(path);
        self.operations.push(Operation {
            location: at(entry.key_location),
            method: method.map(str::to_owned),
            path: format!("{}{path}", self.base_path),
            fragment: fragment.to_owned(),
            need: Err(problem),
            names_scopes: false,
            same_call_as: None,
            remarks: Vec::new(),
            note: None,
        });
    }

    fn operation(&mut self, entry: &Entry<'_>, method: &str, path: &str, item: &Node<'_>) {
        let (path, fragment) = without_fragment(path);
        let servers = get(&entry.value, "servers").or_else(|| get(item, "servers"));
        // Those of the document have the path of the document, which can come from an option.
        let all = self.servers.map(urls).unwrap_or_default();
        let servers = servers.filter(|servers| urls(servers).iter().any(|url| !all.contains(url)));
        let base_path = servers.map(|servers| base_path(Some(servers)).map_err(|(problem, _)| problem));
        let shown = match &base_path {
            Some(Ok(own)) => own,
            _ => self.base_path,
        };
        let path_shown = format!("{shown}{path}");
        let parameters = [&entry.value, item].map(|node| get(node, "parameters"));
        let mut remarks: Vec<_> = several_segments(parameters, path).into_iter().collect();
        let need = self
            .has_no_other_servers(servers, base_path)
            .and_then(|()| own_path(&entry.value, path))
            .and_then(|own| self.need(entry, method, own.as_deref().unwrap_or(path), &mut remarks));
        let note = noted(note(&entry.value), &remarks);
        self.operations.push(Operation {
            location: at(entry.key_location),
            method: Some(method.to_owned()),
            path: path_shown,
            fragment: fragment.to_owned(),
            need,
            names_scopes: match get(&entry.value, FULL_SECURITY).or_else(|| get(&entry.value, "security")) {
                None => self.names_scopes,
                own => security::names_scopes(own),
            },
            same_call_as: None,
            remarks,
            note,
        });
    }

    fn has_no_other_servers(
        &self,
        servers: Option<&Node<'_>>,
        base_path: Option<Result<String, Problem>>,
    ) -> Result<(), Problem> {
        let (Some(servers), Some(own)) = (servers, base_path.transpose()?) else {
            return Ok(());
        };
        if own == self.base_path {
            return Ok(());
        }
        let (own, all) = (quoted(&own), quoted(self.base_path));
        let message = format!("its servers have the path {own}, and those of the document {all}");
        Err(Problem::new(Cause::Servers, location(servers), message))
    }

    fn need(&self, entry: &Entry<'_>, method: &str, path: &str, remarks: &mut Vec<Remark>) -> Result<Need, Problem> {
        let operation = &entry.value;
        let key = at(entry.key_location);
        let full = &format!("{}{path}", self.base_path);
        let (full, path) = match (full.strip_suffix('/'), path.strip_suffix('/')) {
            (Some(""), _) => ("/", "/"),
            (Some(full), Some(path)) if self.policy.trailing_slash => (full, if path.is_empty() { "/" } else { path }),
            (None, _) if self.policy.trailing_slash => {
                let message = format!("{} doesn't end with `/`, as other paths do", quoted(full));
                return Err(Problem::new(Cause::Path, key, message));
            }
            _ => (full.as_str(), path),
        };
        let Some(keys) = entries(operation) else {
            return Err(malformed(operation, "an operation must be a mapping"));
        };
        if let Some(elsewhere) = keys.iter().find(|entry| entry.key.text == REFERENCE) {
            return Err(reference(elsewhere));
        }
        let whole = get(operation, FULL_SECURITY);
        if let Some(whole) = whole
            && !security::has_only_more_earned(get(operation, "security"), whole)?
        {
            let message = format!("`{FULL_SECURITY}` must be `security` with scopes added that begin with `{EARNED}`");
            return Err(malformed(whole, &message));
        }
        let result = match (whole.or_else(|| get(operation, "security")), &self.security) {
            (Some(own), _) => of_security(own, self.rules, self.advice),
            (None, Some(shared)) => shared.clone(),
            (None, None) => shared(security::default(key, self.rules)),
        };
        let (needed, of_security) = result?;
        // An exported document means what it states.
        let is_worth_it = |remark: &Remark| remark.kind != NoteKind::AllOf || !self.policy.is_stated;
        remarks.extend(of_security.into_iter().filter(is_worth_it));
        let scheme = self.rules.schemes.all.get(needed.scheme);
        let api = scheme.and_then(|scheme| scheme.api.as_ref());
        let template = match api.and_then(|api| api.base_path.as_deref()) {
            Some(base) => below(base, full).ok_or_else(|| {
                let (full, base) = (quoted(full), quoted(base));
                let message = format!("{full} is not below the base path {base} of its api");
                Problem::new(Cause::Path, key, message)
            })?,
            None if path == "/" && !self.base_path.is_empty() && !self.policy.trailing_slash => {
                let message = format!("{} ends with `/`, and no path that is decided does", quoted(full));
                return Err(Problem::new(Cause::Path, key, message));
            }
            None => path,
        };
        if let Some(segment) = path.split('/').find(|segment| segment.starts_with('{') && segment.contains("}:")) {
            // As Google's custom methods. The policy's reader would propose a route without the method.
            let (segment, whole) = (quoted(segment), segment.split(':').next().unwrap_or_default());
            let message = format!(
                "{segment} is a parameter and a method in one segment, and a policy's parameter is a whole segment, so {} would decide the calls of every such method; make the method a segment of its own",
                quoted(whole)
            );
            return Err(Problem::new(Cause::Path, key, message));
        }
        let column = api.and_then(|api| {
            let scope = api.scopes.iter().find(|scope| scope.name == needed.scope);
            scope?.orbs
        });
        let (stated, own) = charge(operation)?;
        Ok(Need {
            needed,
            method: method.to_owned(),
            template: template.to_owned(),
            orbs: stated.or(column).or(self.rules.options.orbs),
            own,
        })
    }
}

/// The key of a reference to another location.
const REFERENCE: &str = "$ref";

fn reference(entry: &Entry<'_>) -> Problem {
    let target = quoted(word(&entry.value).unwrap_or_default());
    let message = format!("`$ref` to {target} is not followed: bundle the document into one without it");
    Problem::new(Cause::Reference, at(entry.key_location), message)
}

/// The maximum length of a note, in characters.
const NOTE: usize = 100;

/// Human-readable information about an operation: its id, its summary, and whether it is
/// deprecated.
fn note(operation: &Node<'_>) -> Option<String> {
    let says = |key| {
        let text = get(operation, key).and_then(word)?;
        let words: Vec<_> = text.split_whitespace().collect();
        (!words.is_empty()).then(|| words.join(" "))
    };
    let texts: Vec<_> = says("operationId").into_iter().chain(says("summary")).collect();
    let mut note = cut(&lines(&harmless(&texts.join(": "))));
    if get(operation, "deprecated").and_then(word) == Some("true") {
        let space = if note.is_empty() { "" } else { " " };
        note.extend([space, "(deprecated)"]);
    }
    (!note.is_empty()).then_some(note)
}

/// A note, and what something in front must check.
fn noted(note: Option<String>, remarks: &[Remark]) -> Option<String> {
    let is_elsewhere = |remark: &&Remark| remark.kind == NoteKind::CheckedElsewhere;
    let elsewhere = remarks.iter().find(is_elsewhere).map(|remark| harmless(&remark.message));
    let parts: Vec<_> = note.into_iter().chain(elsewhere).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// The string, shortened to the length of a note.
fn cut(text: &str) -> String {
    match text.char_indices().nth(NOTE) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default().trim_end()),
    }
}

/// The path with the operation's own parameter names, which can differ between methods.
fn own_path(operation: &Node<'_>, path: &str) -> Result<Option<String>, Problem> {
    let Some(node) = get(operation, "x-orbs-path") else {
        return Ok(None);
    };
    let own = text(node, "`x-orbs-path`")?;
    match template::is_same_shape(&own, path) {
        true => Ok(Some(own)),
        false => Err(malformed(node, "`x-orbs-path` must be the path except for the names of parameters")),
    }
}

/// The orbs that the operation states for a call, and whether the route states its own even if they equal the scope's.
fn charge(operation: &Node<'_>) -> Result<(Option<Orbs>, bool), Problem> {
    let stated = get(operation, "x-orbs").map(|node| orbs(node, "`x-orbs`"));
    let stated = stated.transpose()?;
    match (get(operation, "x-orbs-own"), stated) {
        (None, _) => Ok((stated, false)),
        (Some(node), Some(_)) if word(node) == Some("true") => Ok((stated, true)),
        (Some(node), _) => {
            let message = "`x-orbs-own` must be `true`, together with `x-orbs`";
            Err(Problem::new(Cause::Orbs, location(node), message))
        }
    }
}

/// A path, and its fragment.
pub(super) fn without_fragment(path: &str) -> (&str, &str) {
    path.split_at(path.find('#').unwrap_or(path.len()))
}

fn is_extension(key: &str) -> bool {
    key.starts_with("x-")
}
