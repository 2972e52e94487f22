//! A document's values → what is read of it, but for its operations.

use std::collections::HashSet;

use orbgate::policy::Diagnostic;
use orbgate::{Location, is_earned};
use orbgate_yaml::{Diagnostics, Node, Owner, Values, quoted};

use crate::advice::Advice;
use crate::document::{Document, PolicyFacts};
use crate::node::{Cause, Problem, at, base_path, base_path_option, entries, get, is_visible, location, word};
use crate::operations::{Reader, of_security, without_fragment};
use crate::scheme::{Schemes, diagnostic, location_of};
use crate::security::Rules;
use crate::words::{base_path_diagnostic, harmless, scope_diagnostic, takes_name};
use crate::{Options, security, tree};

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
