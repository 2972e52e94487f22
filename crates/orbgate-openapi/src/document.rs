//! A document's values → its operations, each with its requirements, or with the reason why no
//! policy can express them.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use orbgate::policy::Diagnostic;
use orbgate::{EARNED, Location, Orbs, is_earned};
use orbgate_analysis::shown::{lines, one_line};
use orbgate_yaml::{Diagnostics, Entry, Node, Owner, Values, quoted};

use crate::advice::Advice;
use crate::node::{
    Cause, FULL_SECURITY, METHODS, NoteKind, Problem, at, base_path, base_path_option, entries, get, is_visible,
    location, malformed, orbs, text, urls, word,
};
use crate::parameters::several_segments;
use crate::part::MERGE;
use crate::scheme::{Scheme, Schemes, diagnostic, location_of};
use crate::security::{Found, Needed, Remark, Rules};
use crate::words::{base_path_diagnostic, scope_diagnostic, takes_name};
use crate::{Options, security, template, tree};

/// The maximum number of operations in a document: the maximum number of routes in a policy.
const OPERATIONS: usize = 200_000;

/// The parts of a document that determine which call needs which scope.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) policy: PolicyFacts,
    pub(super) schemes: Schemes,
    /// The path of the servers.
    pub(super) base_path: String,
    pub(super) operations: Vec<Operation>,
    /// The paths without operations.
    pub(super) empty: Vec<EmptyPath>,
    /// The templates that declare no method, so that other routes don't decide their calls.
    pub(super) closed: Vec<Closed>,
    /// The shapes of paths that can't be closed templates.
    pub(super) unclosable: HashSet<String>,
}

/// A path without operations: its operations, if it has some, aren't to be seen.
#[derive(Debug)]
pub(super) struct EmptyPath {
    pub(super) location: Location,
    pub(super) path: String,
    /// The name of the api whose closed template it is: `x-orbs-api`.
    pub(super) api: Option<String>,
    /// Why it isn't a closed template.
    pub(super) problem: Option<String>,
}

/// A closed template of the policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Closed {
    pub(super) scheme: usize,
    /// The template, relative to the api's base path.
    pub(super) template: String,
    /// The path, including the servers' path.
    pub(super) path: String,
    pub(super) location: Location,
    /// The route that would decide its calls, with its line. `None` for a path without operations.
    pub(super) against: Option<(String, u32)>,
}

/// The settings of a policy other than its apis: `x-orbs-policy` or, without it, the document's
/// title as the name.
#[derive(Debug, Default)]
pub(super) struct PolicyFacts {
    /// Whether the document has `x-orbs-policy`.
    pub(super) is_stated: bool,
    pub(super) name: Option<String>,
    pub(super) target: Option<String>,
    /// Whether all paths end in a slash. Without `x-orbs-policy`, whether most of the document's paths do.
    pub(super) trailing_slash: bool,
    pub(super) headings: Vec<String>,
    pub(super) comments: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Operation {
    pub(super) location: Location,
    /// `None` for a whole path item that couldn't be read, because its methods are unknown.
    pub(super) method: Option<String>,
    /// The path, including the servers' path.
    pub(super) path: String,
    /// What the document has after the path, which never reaches a server: `#` and what follows it.
    pub(super) fragment: String,
    pub(super) need: Result<Need, Problem>,
    /// Whether its `security`, or the document's, names scopes.
    pub(super) names_scopes: bool,
    /// The number of the operation whose route decides its calls, with the same requirement.
    pub(super) same_call_as: Option<usize>,
    /// What users should know if it is imported.
    pub(super) remarks: Vec<Remark>,
    /// Further human-readable information in the document, on one line.
    pub(super) note: Option<String>,
}

/// The requirements of an operation.
#[derive(Clone, Debug)]
pub(super) struct Need {
    pub(super) needed: Rc<Needed>,
    pub(super) method: String,
    /// The template, relative to the api's base path.
    pub(super) template: String,
    /// The orbs that a call consumes, if stated.
    pub(super) orbs: Option<Orbs>,
    /// Whether the route states its own orbs even if they equal the scope's.
    pub(super) own: bool,
}

impl Document {
    /// Whether an operation needs just one scope.
    pub(super) fn needs_one_scope(&self, operation: usize) -> bool {
        let need = self.operations.get(operation).and_then(|operation| operation.need.as_ref().ok());
        need.is_none_or(|need| need.needed.is_one_scope())
    }

    pub(super) fn name(&self, scope: &str) -> Vec<usize> {
        // Operations can share a long requirement.
        let mut known: HashMap<*const Needed, bool> = HashMap::new();
        let operations = self.operations.iter().enumerate();
        let named = operations.filter(|(_, operation)| {
            operation.need.as_ref().is_ok_and(|need| {
                let names = || need.needed.scopes().any(|name| name == scope);
                *known.entry(Rc::as_ptr(&need.needed)).or_insert_with(names)
            })
        });
        named.map(|(number, _)| number).collect()
    }

    /// The shapes of the paths for which the policy has a route.
    pub(super) fn served(&self) -> HashSet<String> {
        let kept = self.operations.iter().filter(|operation| operation.need.is_ok());
        kept.map(|operation| template::shape(&operation.path)).collect()
    }

    /// The base path of a scheme's api.
    pub(super) fn base_path_of<'d>(&'d self, scheme: &'d Scheme) -> Option<&'d str> {
        match &scheme.api {
            Some(facts) => facts.base_path.as_deref(),
            None => Some(&self.base_path),
        }
    }

    /// Whether the route of another operation, which is imported, decides the operation's calls.
    pub(super) fn shares_a_route(&self, operation: &Operation) -> bool {
        let route = operation.same_call_as.and_then(|route| self.operations.get(route));
        route.is_some_and(|route| route.need.is_ok())
    }
}

impl Need {
    /// Whether a call needs the same and consumes the same.
    pub(super) fn requires_what(&self, other: &Self) -> bool {
        (Rc::ptr_eq(&self.needed, &other.needed) || self.needed.is_met_with(&other.needed)) && self.orbs == other.orbs
    }
}

impl Operation {
    pub(super) fn name(&self) -> String {
        let Self { path, fragment, .. } = self;
        match &self.method {
            Some(method) => format!("{method} {path}{fragment}"),
            None => format!("{path}{fragment}"),
        }
    }
}

pub(super) fn read(bytes: &[u8], options: &Options) -> Result<Document, Vec<Diagnostic>> {
    let mut diagnostics = Diagnostics::default();
    let document = tree::parse(bytes, &mut diagnostics)
        .and_then(|root| document(&root, options, &mut diagnostics))
        .filter(|_| diagnostics.is_empty());
    document.ok_or_else(|| {
        let diagnostics = diagnostics.into_list().into_iter();
        diagnostics
            .map(|diagnostic| Diagnostic { location: at(diagnostic.location), message: diagnostic.message })
            .collect()
    })
}

/// Whether this is an OpenAPI document of any version.
pub(super) fn is_one(bytes: &[u8]) -> bool {
    tree::parse(bytes, &mut Diagnostics::default()).is_some_and(|root| {
        let says = |key| get(&root, key).is_some();
        (says("openapi") || says("swagger")) && !says("orbgate")
    })
}

fn document(root: &Node<'_>, options: &Options, diagnostics: &mut Diagnostics) -> Option<Document> {
    let push = |diagnostics: &mut Diagnostics, location: Location, message: &str| {
        diagnostic(Problem::new(Cause::Malformed, location, message), diagnostics);
    };
    if entries(root).is_none() {
        push(diagnostics, location(root), "an OpenAPI document is a mapping");
        return None;
    }
    if let Some(message) = version(root) {
        push(diagnostics, location_of(get(root, "openapi")), &message);
        return None;
    }
    let judged = options.default_scope.as_deref().and_then(scope_diagnostic);
    if let Some(message) = judged {
        let message = format!("the option for the default scope: {message}");
        push(diagnostics, Location { line: 1, column: 1 }, &message);
    }
    let mut policy = policy(root, diagnostics);
    if get(root, "x-orbs-policy").is_none() {
        policy.trailing_slash = has_mostly_slashes(root);
    }
    policy.comments = comments(options);
    let components = get(root, "components");
    let declared = components.and_then(|components| get(components, "securitySchemes"));
    let schemes = Schemes::read(declared, options, diagnostics);
    let rules = Rules { schemes: &schemes, choice: &schemes.choice, options };
    let advice = Advice::new(root, rules);
    if !schemes.is_decided(&schemes.choice) && options.schemes.is_empty() {
        let message = format!("several schemes have scopes: {}; {}", schemes.undecided(), advice.for_document());
        push(diagnostics, schemes.start(), &message);
    }
    let base_path = options.base_path.clone().unwrap_or_else(|| {
        stated_base_path(get(root, "servers")).unwrap_or_else(|problem| {
            push(diagnostics, problem.location, &problem.message);
            String::new()
        })
    });
    let security = get(root, "security");
    let mut reader = Reader {
        rules,
        advice: &advice,
        security: security.map(|security| of_security(security, rules, &advice)),
        names_scopes: security::names_scopes(security),
        servers: get(root, "servers"),
        base_path: &base_path,
        policy: &policy,
        operations: Vec::new(),
        empty: Vec::new(),
    };
    if let Err((location, message)) = reader.paths(root) {
        push(diagnostics, location, &message);
        return None;
    }
    let Reader { operations, empty, .. } = reader;
    let (closed, unclosable) = (Vec::new(), HashSet::new());
    Some(Document { policy, schemes, base_path, operations, empty, closed, unclosable })
}

/// The path of the document's servers, if a policy can have it. Otherwise, the message names the option.
fn stated_base_path(servers: Option<&Node<'_>>) -> Result<String, Problem> {
    let result = base_path(servers).and_then(|base_path| match base_path_diagnostic(&base_path) {
        None => Ok(base_path),
        Some(message) => Err((Problem::new(Cause::Servers, location_of(servers), message), base_path_option(None))),
    });
    result.map_err(|(problem, advice)| Problem { message: format!("{}; {advice}", problem.message), ..problem })
}

/// What a reader of the policy must know about the options with which it was imported.
fn comments(options: &Options) -> Vec<String> {
    let mut comments = Vec::new();
    let listed = |names: &[String]| names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
    if options.schemes.len() > 1 {
        let names = listed(&options.schemes);
        let text = format!(
            "Imported with several `--scheme`: one token stands for {names}, and scopes of one name are one scope. They must be of one issuer."
        );
        comments.push(harmless(&text));
    }
    if !options.elsewhere.is_empty() {
        let names = listed(&options.elsewhere);
        let text = format!(
            "Imported with `--elsewhere`: something in front of this policy must check {names}, as routes say."
        );
        comments.push(harmless(&text));
    }
    if let Some(scope) = options.default_scope.as_ref().filter(|scope| is_earned(scope)) {
        let text = format!("Imported with `--default-scope {scope}`: `derive` in tokens.yaml must give it.");
        comments.push(harmless(&text));
    }
    if options.require_optional {
        let text =
            "Imported with `--optional require`: where the document's security is optional, a token is required.";
        comments.push(text.to_owned());
    }
    if options.all_of_as_any {
        let text = "Imported with `--all-of-as-any`: where the document requires several scopes at once, one of them is enough.";
        comments.push(text.to_owned());
    }
    comments
}

/// A comment on one line. A string in the document must not become a comment that `lint` obeys.
fn harmless(text: &str) -> String {
    one_line(text).replace("orbgate-lint:", "orbgate-lint :")
}

/// The error in the document's version.
fn version(root: &Node<'_>) -> Option<String> {
    let version = get(root, "openapi").and_then(word);
    if version.is_some_and(|version| version.starts_with("3.0.") || version.starts_with("3.1.")) {
        return None;
    }
    let read = "OpenAPI 3.0 and 3.1 are read";
    Some(match (version, get(root, "swagger")) {
        (Some(version), _) if version.starts_with("3.2.") => {
            let version = quoted(version);
            format!(
                "{read}, not {version}: if no path has `query` or `additionalOperations`, write `openapi: 3.1.1`; otherwise, convert the document to 3.1 first"
            )
        }
        (Some(version), _) => format!("{read}, not {}", quoted(version)),
        (None, Some(_)) => format!("{read}, not Swagger 2.0: convert the document first"),
        (None, None) if get(root, "orbgate").is_some() => {
            format!("this is a policy, not an OpenAPI document; {read}")
        }
        (None, None) => format!("no OpenAPI document: it has no `openapi: 3.…`; {read}"),
    })
}

fn policy(root: &Node<'_>, diagnostics: &mut Diagnostics) -> PolicyFacts {
    let Some(node) = get(root, "x-orbs-policy") else {
        let title = get(root, "info").and_then(|info| get(info, "title"));
        let title = title.and_then(word).map(str::trim);
        let is_name =
            |name: &&str| !name.is_empty() && !name.contains(['\t', '\n']) && is_visible(name) && takes_name(name);
        return PolicyFacts { name: title.filter(is_name).map(str::to_owned), ..PolicyFacts::default() };
    };
    let owner = Owner { what: "`x-orbs-policy`", location: node.location };
    let mut values = Values::new(diagnostics);
    let keys = ["orbgate", "name", "target", "trailing_slash", "headings"];
    let Some([version, name, target, slash, headings]) = values.fields(node, &owner, keys, &["orbgate"]) else {
        return PolicyFacts::default();
    };
    if let Some(version) = version.filter(|version| word(version) != Some("1")) {
        values.wrong(version, "`orbgate` must be 1, the version of the format");
    }
    let headings = headings.map_or(&[][..], |node| values.list(node, "`headings`"));
    PolicyFacts {
        is_stated: true,
        name: name.map(|node| values.text(node, "`name`").value),
        target: target.map(|node| values.text(node, "`target`").value),
        trailing_slash: slash.is_some_and(|node| {
            let choices = [("never", false), ("always", true)];
            values.choice(node, "`trailing_slash`", &choices).value
        }),
        headings: headings.iter().map(|node| values.text(node, "a heading").value).collect(),
        comments: Vec::new(),
    }
}

/// Whether most paths that are longer than `/` end in a slash. The others are left out.
fn has_mostly_slashes(root: &Node<'_>) -> bool {
    let paths = get(root, "paths").and_then(entries).unwrap_or_default();
    let paths = paths.iter().map(|entry| without_fragment(&entry.key.text).0);
    let (slashed, others): (Vec<_>, Vec<_>) =
        paths.filter(|path| path.starts_with('/') && *path != "/").partition(|path| path.ends_with('/'));
    slashed.len() > others.len()
}

/// A path, and its fragment.
fn without_fragment(path: &str) -> (&str, &str) {
    path.split_at(path.find('#').unwrap_or(path.len()))
}

fn is_extension(key: &str) -> bool {
    key.starts_with("x-")
}

struct Reader<'r> {
    rules: Rules<'r>,
    advice: &'r Advice<'r>,
    /// What operations need that don't have their own `security`, read only once.
    security: Option<Shared>,
    names_scopes: bool,
    servers: Option<&'r Node<'r>>,
    base_path: &'r str,
    policy: &'r PolicyFacts,
    operations: Vec<Operation>,
    empty: Vec<EmptyPath>,
}

/// What several operations need.
type Shared = Result<(Rc<Needed>, Vec<Remark>), Problem>;

/// What `security` states. If a policy can't express it, the message names the options with which it could.
fn of_security(security: &Node<'_>, rules: Rules<'_>, advice: &Advice<'_>) -> Shared {
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
    fn paths(&mut self, root: &Node<'_>) -> Result<(), (Location, String)> {
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

/// The part of a full path after a base path.
pub(super) fn below<'p>(base: &str, full: &'p str) -> Option<&'p str> {
    match full.strip_prefix(base)? {
        // The base path itself.
        "" => Some("/"),
        template if template == "/" && !base.is_empty() => None,
        template => template.starts_with('/').then_some(template),
    }
}
