//! YAML's tree → document; reports what is no such document.

use orbgate::TokenKind;
use orbgate_yaml::{Content, Faults, Node, Owner, Spanned, Values, amount};

use super::document::{
    ActionDocument, AuthzenDocument, ChallengeDocument, Document, KindDocument, LimitsDocument,
    ListenerDocument, ResourceDocument, SubjectDocument, TlsDocument,
};
use crate::mode::Mode;

pub(super) const ROOT_KEYS: [&str; 16] = [
    "orbgate_gateway",
    "policy",
    "require_seal",
    "refuse_wider",
    "tokens",
    "listeners",
    "admin",
    "audit",
    "state",
    "headers",
    "challenge",
    "realm",
    "resource_metadata",
    "flat_403",
    "authzen",
    "limits",
];

pub(super) const LISTENER_KEYS: [&str; 4] = ["mode", "listen", "trusted_proxies", "tls"];

pub(super) const TLS_KEYS: [&str; 3] = ["certificate", "key", "client_ca"];

pub(super) const LIMIT_KEYS: [&str; 5] = [
    "connections",
    "questions",
    "header_bytes",
    "idle_seconds",
    "drain_seconds",
];

pub(super) const AUTHZEN_KEYS: [&str; 5] =
    ["url", "caller_scope", "subjects", "actions", "resources"];

pub(super) const SUBJECT_KEYS: [&str; 4] = ["type", "id", "token_kind", "scopes"];

pub(super) const ACTION_KEYS: [&str; 2] = ["name", "method"];

pub(super) const RESOURCE_KEYS: [&str; 2] = ["type", "path"];

const KINDS: [(&str, KindDocument); 2] = [
    (TokenKind::User.as_str(), KindDocument::User),
    (TokenKind::Organisation.as_str(), KindDocument::Organisation),
];

const CHALLENGES: [(&str, ChallengeDocument); 3] = [
    ("minimal", ChallengeDocument::Minimal),
    ("full", ChallengeDocument::Full),
    ("none", ChallengeDocument::None),
];

/// The document of a tree.
pub(super) fn document(root: &Node<'_>, faults: &mut Faults) -> Option<Document> {
    let mut reader = Reader {
        values: Values { faults },
    };
    let owner = Owner {
        what: "the configuration",
        place: root.place,
    };
    let required = ["orbgate_gateway", "tokens", "listeners"];
    let [
        version,
        policy,
        require_seal,
        refuse_wider,
        tokens,
        listeners,
        admin,
        audit,
        state,
        headers,
        challenge,
        realm,
        resource_metadata,
        flat_403,
        authzen,
        limits,
    ] = reader.values.fields(root, &owner, ROOT_KEYS, &required)?;
    if let Some(node) = version {
        reader.values.version(node, "orbgate_gateway");
    }
    let policy = reader.text(policy, "`policy`");
    let require_seal = reader.flag(require_seal, "`require_seal`");
    let refuse_wider = reader.flag(refuse_wider, "`refuse_wider`");
    let tokens = reader.text(tokens, "`tokens`");
    let listeners = listeners.map(|node| {
        let items = reader.values.list(node, "`listeners`");
        let items = items.iter().filter_map(|item| reader.listener(item));
        node.spanned(items.collect())
    });
    Some(Document {
        orbgate_gateway: 1,
        policy,
        require_seal,
        refuse_wider,
        admin: admin.map(|node| reader.address(node, "`admin`")),
        audit: reader.text(audit, "`audit`"),
        state: reader.text(state, "`state`"),
        headers: reader.text(headers, "`headers`"),
        challenge: challenge.map(|node| reader.values.choice(node, "`challenge`", &CHALLENGES)),
        realm: reader.text(realm, "`realm`"),
        resource_metadata: reader.text(resource_metadata, "`resource_metadata`"),
        flat_403: reader.flag(flat_403, "`flat_403`"),
        authzen: authzen.and_then(|node| reader.authzen(node)),
        limits: limits.and_then(|node| reader.limits(node)),
        tokens,
        listeners,
    })
}

struct Reader<'f> {
    values: Values<'f>,
}

impl Reader<'_> {
    fn listener(&mut self, node: &Node<'_>) -> Option<ListenerDocument> {
        let owner = Owner {
            what: "this listener",
            place: node.place,
        };
        let required = ["mode", "listen"];
        let [mode, listen, trusted_proxies, tls] =
            self.values.fields(node, &owner, LISTENER_KEYS, &required)?;
        let mode = mode.map(|node| self.values.choice(node, "`mode`", &Mode::NAMED));
        let listen = listen.map(|node| self.address(node, "`listen`"));
        let trusted_proxies = trusted_proxies.map(|node| {
            let items = self.values.list(node, "`trusted_proxies`");
            let blocks = items.iter();
            let blocks = blocks.map(|node| self.address(node, "a block of addresses"));
            node.spanned(blocks.collect())
        });
        Some(ListenerDocument {
            mode,
            listen,
            trusted_proxies,
            tls: tls.and_then(|node| self.tls(node)),
        })
    }

    fn tls(&mut self, node: &Node<'_>) -> Option<TlsDocument> {
        let owner = Owner {
            what: "`tls`",
            place: node.place,
        };
        let required = ["certificate", "key"];
        let [certificate, key, client_ca] =
            self.values.fields(node, &owner, TLS_KEYS, &required)?;
        Some(TlsDocument {
            certificate: self.text(certificate, "`certificate`")?,
            key: self.text(key, "`key`")?,
            client_ca: self.text(client_ca, "`client_ca`"),
        })
    }

    fn authzen(&mut self, node: &Node<'_>) -> Option<AuthzenDocument> {
        let owner = Owner {
            what: "`authzen`",
            place: node.place,
        };
        let found = self.values.fields(node, &owner, AUTHZEN_KEYS, &[])?;
        let [url, caller_scope, subjects, actions, resources] = found;
        Some(AuthzenDocument {
            url: self.text(url, "`url`"),
            caller_scope: self.text(caller_scope, "`caller_scope`"),
            subjects: subjects.map(|node| self.items(node, "`subjects`", Self::subject)),
            actions: actions.map(|node| self.items(node, "`actions`", Self::action)),
            resources: resources.map(|node| self.items(node, "`resources`", Self::resource)),
        })
    }

    fn items<T>(
        &mut self,
        node: &Node<'_>,
        what: &str,
        read: fn(&mut Self, &Node<'_>) -> Option<T>,
    ) -> Vec<T> {
        let items = self.values.list(node, what).iter();
        items.filter_map(|item| read(self, item)).collect()
    }

    fn subject(&mut self, node: &Node<'_>) -> Option<SubjectDocument> {
        let [kind, id, token_kind, scopes] = self.all(node, "this subject", SUBJECT_KEYS)?;
        let token_kind = token_kind.map(|node| self.values.choice(node, "`token_kind`", &KINDS));
        Some(SubjectDocument {
            kind: self.text(kind, "`type`")?,
            id: self.text(id, "`id`")?,
            token_kind: token_kind?,
            scopes: self.text(scopes, "`scopes`")?,
        })
    }

    fn action(&mut self, node: &Node<'_>) -> Option<ActionDocument> {
        let [name, method] = self.all(node, "this action", ACTION_KEYS)?;
        Some(ActionDocument {
            name: self.text(name, "`name`")?,
            method: self.text(method, "`method`")?,
        })
    }

    fn resource(&mut self, node: &Node<'_>) -> Option<ResourceDocument> {
        let [kind, path] = self.all(node, "this resource", RESOURCE_KEYS)?;
        Some(ResourceDocument {
            kind: self.text(kind, "`type`")?,
            path: self.text(path, "`path`")?,
        })
    }

    /// The values of keys that must all be there.
    fn all<'n, 'a, const N: usize>(
        &mut self,
        node: &'n Node<'a>,
        what: &str,
        keys: [&'static str; N],
    ) -> Option<[Option<&'n Node<'a>>; N]> {
        let place = node.place;
        self.values
            .fields(node, &Owner { what, place }, keys, &keys)
    }

    fn limits(&mut self, node: &Node<'_>) -> Option<LimitsDocument> {
        let owner = Owner {
            what: "`limits`",
            place: node.place,
        };
        let found = self.values.fields(node, &owner, LIMIT_KEYS, &[])?;
        let [
            connections,
            questions,
            header_bytes,
            idle_seconds,
            drain_seconds,
        ] = found;
        Some(LimitsDocument {
            connections: self.number(connections, "`connections`"),
            questions: self.number(questions, "`questions`"),
            header_bytes: self.number(header_bytes, "`header_bytes`"),
            idle_seconds: self.number(idle_seconds, "`idle_seconds`"),
            drain_seconds: self.number(drain_seconds, "`drain_seconds`"),
        })
    }

    fn text(&mut self, node: Option<&Node<'_>>, what: &str) -> Option<Spanned<String>> {
        node.map(|node| self.values.text(node, what))
    }

    /// An address: YAML 1.1 takes `127.0.0.1` for a number, and nobody means one.
    fn address(&mut self, node: &Node<'_>, what: &str) -> Spanned<String> {
        match &node.kind {
            Content::Scalar(scalar) => node.spanned(scalar.text.clone().into_owned()),
            _ => self.values.text(node, what),
        }
    }

    fn flag(&mut self, node: Option<&Node<'_>>, what: &str) -> Option<Spanned<bool>> {
        node.map(|node| self.values.flag(node, what))
    }

    fn number(&mut self, node: Option<&Node<'_>>, what: &str) -> Option<Spanned<u64>> {
        node.map(|node| {
            let number = amount(node);
            if number.is_none() {
                let must = format!("{what} must be a plain whole number above 0");
                self.values.wrong(node, &must);
            }
            node.spanned(number.unwrap_or_default())
        })
    }
}
