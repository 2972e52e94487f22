//! Values with places → document: which keys there are, and what kind of value each takes.

use orbgate_yaml::{Content, Faults, Node, Owner, Spanned, Values, amount, keys_of};

use super::document::{
    ConflictDocument, Document, FormatDocument, IssuerDocument, KindClaims, KindDocument,
    ScopesDocument, TestDocument,
};

/// The document that the tree describes; complete only if no fault was found.
pub(super) fn document(root: &Node<'_>, faults: &mut Faults) -> Option<Document> {
    let mut reader = Reader {
        values: Values { faults },
    };
    let owner = Owner {
        what: "the configuration",
        place: root.place,
    };
    let required = ["orbgate_token", "issuers"];
    let [version, issuers, remember] = reader.values.fields(root, &owner, ROOT_KEYS, &required)?;
    if let Some(node) = version {
        reader.values.version(node, "orbgate_token");
    }
    let remember_signatures = remember.map(|node| reader.number(node, "`remember_signatures`"));
    let issuers = issuers.and_then(|node| {
        let items = reader.values.list(node, "`issuers`");
        let issuers = items.iter().filter_map(|node| reader.issuer(node));
        let issuers: Vec<_> = issuers.collect();
        // Where none is a mapping, that is the fault, and not that there is none.
        (items.is_empty() || !issuers.is_empty()).then_some(issuers)
    });
    Some(Document {
        orbgate_token: 1,
        issuers,
        remember_signatures,
    })
}

/// Every key of a configuration, wherever it is.
pub(super) const KEYS: [&str; 27] = keys_of(&[
    &ROOT_KEYS,
    &ISSUER_KEYS,
    &KIND_KEYS,
    &TEST_KEYS,
    &SCOPES_KEYS,
]);

const ROOT_KEYS: [&str; 3] = ["orbgate_token", "issuers", "remember_signatures"];

const KIND_KEYS: [&str; 2] = ["user", "organisation"];

/// The keys of a test: the claim, and the five that say what it must be.
const TEST_KEYS: [&str; 6] = [
    "claim",
    "equals",
    "one_of",
    "present",
    "equals_claim",
    "differs_from_claim",
];

const SCOPES_KEYS: [&str; 3] = ["claim", "format", "conflict"];

/// Every key of an issuer.
const ISSUER_KEYS: [&str; 13] = [
    "issuer",
    "audience",
    "kind",
    "jwks_uri",
    "algorithms",
    "extra_types",
    "scopes",
    "client_claim",
    "require",
    "skew_seconds",
    "max_lifetime_seconds",
    "allow_unverified_cnf",
    "rsa_exponent_min",
];

struct Reader<'f> {
    values: Values<'f>,
}

impl Reader<'_> {
    fn issuer(&mut self, node: &Node<'_>) -> Option<IssuerDocument> {
        let owner = Owner {
            what: "this issuer",
            place: node.place,
        };
        let required = ["issuer", "audience", "kind"];
        let [
            issuer,
            audience,
            kind,
            jwks_uri,
            algorithms,
            extra_types,
            scopes,
            client_claim,
            require,
            skew_seconds,
            max_lifetime_seconds,
            allow_unverified_cnf,
            rsa_exponent_min,
        ] = self.values.fields(node, &owner, ISSUER_KEYS, &required)?;
        Some(IssuerDocument {
            issuer: issuer.map(|node| self.values.text(node, "`issuer`")),
            audience: audience.map(|node| self.values.text(node, "`audience`")),
            kind: kind.map(|node| self.kind(node)),
            jwks_uri: jwks_uri.map(|node| self.values.text(node, "`jwks_uri`")),
            algorithms: algorithms.map(|node| self.texts(node, "`algorithms`", "an algorithm")),
            extra_types: extra_types.map(|node| self.texts(node, "`extra_types`", "a type").value),
            scopes: scopes.map(|node| self.scopes(node)),
            client_claim: client_claim.map(|node| self.values.text(node, "`client_claim`")),
            require: require.map(|node| self.texts(node, "`require`", "a claim")),
            skew_seconds: skew_seconds.map(|node| self.number(node, "`skew_seconds`")),
            max_lifetime_seconds: max_lifetime_seconds
                .map(|node| self.number(node, "`max_lifetime_seconds`")),
            allow_unverified_cnf: allow_unverified_cnf
                .map(|node| self.values.flag(node, "`allow_unverified_cnf`")),
            rsa_exponent_min: rsa_exponent_min.map(|node| self.number(node, "`rsa_exponent_min`")),
        })
    }

    fn kind(&mut self, node: &Node<'_>) -> Spanned<KindDocument> {
        let stand_in = || node.spanned(KindDocument::Claims(KindClaims::default()));
        if let Content::Scalar(scalar) = &node.kind {
            if !matches!(scalar.text.as_ref(), "user" | "organisation") {
                let must = "`kind` must be `user`, `organisation` or a mapping with these keys";
                self.values.wrong(node, must);
                return stand_in();
            }
            return node.spanned(KindDocument::Always(scalar.text.clone().into_owned()));
        }
        let owner = Owner {
            what: "`kind`",
            place: node.place,
        };
        let fields = self.values.fields(node, &owner, KIND_KEYS, &[]);
        let Some([user, organisation]) = fields else {
            return stand_in();
        };
        node.spanned(KindDocument::Claims(KindClaims {
            user: user.map(|node| self.tests(node, "`user`")),
            organisation: organisation.map(|node| self.tests(node, "`organisation`")),
        }))
    }

    fn tests(&mut self, node: &Node<'_>, what: &str) -> Vec<TestDocument> {
        let items = self.values.list(node, what);
        items.iter().filter_map(|item| self.test(item)).collect()
    }

    fn test(&mut self, node: &Node<'_>) -> Option<TestDocument> {
        let owner = Owner {
            what: "this test",
            place: node.place,
        };
        let [claim, equals, one_of, present, equals_claim, differs] =
            self.values.fields(node, &owner, TEST_KEYS, &["claim"])?;
        let tests = [equals, one_of, present, equals_claim, differs];
        if tests.into_iter().flatten().count() != 1 {
            let message = "a test needs exactly one of `equals`, `one_of`, `present`, `equals_claim`, `differs_from_claim`";
            self.values.wrong_at(node.place, message.to_owned());
        }
        let mut text = |node: Option<&Node<'_>>, what: &str| {
            node.map(|node| self.values.text(node, what).value)
        };
        Some(TestDocument {
            claim: text(claim, "`claim`")?,
            equals: text(equals, "`equals`"),
            equals_claim: text(equals_claim, "`equals_claim`"),
            differs_from_claim: text(differs, "`differs_from_claim`"),
            one_of: one_of.map(|node| {
                let texts = self.texts(node, "`one_of`", "a text of `one_of`").value;
                texts.into_iter().map(|text| text.value).collect()
            }),
            present: present.map(|node| self.values.flag(node, "`present`").value),
        })
    }

    fn scopes(&mut self, node: &Node<'_>) -> Spanned<ScopesDocument> {
        let owner = Owner {
            what: "`scopes`",
            place: node.place,
        };
        let fields = self.values.fields(node, &owner, SCOPES_KEYS, &[]);
        let Some([claim, format, conflict]) = fields else {
            return node.spanned(ScopesDocument::default());
        };
        let formats = [
            ("string", FormatDocument::String),
            ("array", FormatDocument::Array),
        ];
        let conflicts = [
            ("deny", ConflictDocument::Deny),
            ("ignore", ConflictDocument::Ignore),
        ];
        node.spanned(ScopesDocument {
            claim: claim.map(|node| self.values.text(node, "`claim`").value),
            format: format.map(|node| self.values.choice(node, "`format`", &formats).value),
            conflict: conflict.map(|node| self.values.choice(node, "`conflict`", &conflicts).value),
        })
    }

    fn texts(&mut self, node: &Node<'_>, what: &str, item: &str) -> Spanned<Vec<Spanned<String>>> {
        let items = self.values.list(node, what);
        let texts = items.iter().map(|node| self.values.text(node, item));
        node.spanned(texts.collect())
    }

    fn number(&mut self, node: &Node<'_>, what: &str) -> Spanned<u64> {
        let is_zero =
            matches!(&node.kind, Content::Scalar(scalar) if scalar.plain && scalar.text == "0");
        let number = if is_zero { Some(0) } else { amount(node) };
        if number.is_none() {
            self.values
                .wrong(node, &format!("{what} must be a plain whole number"));
        }
        node.spanned(number.unwrap_or_default())
    }
}
