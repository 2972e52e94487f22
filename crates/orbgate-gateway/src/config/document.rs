//! The configuration as plain data: what both YAML readings must agree on. Nothing here is validated beyond its shape.
//! The table of keys in docs/gateway/configuration.md is made of it.

use core::num::NonZeroU64;

use orbgate_yaml::{Address, Spanned, Version, document};

use super::mode::Mode;

document! {
    /// The whole file.
    pub(super) struct Document {
        /// The version of the format.
        pub(super) orbgate_gateway: Version,
        /// The policy, which is followed while the gateway serves; the built-in one if absent.
        pub(super) policy: Option<Spanned<String>>,
        /// `true` accepts only sealed versions of the policy, of `tokens` and of this file.
        pub(super) require_seal: Option<Spanned<bool>>,
        /// `true` rejects a new policy that allows more than the active one.
        pub(super) refuse_wider: Option<Spanned<bool>>,
        /// Routes that need no token, such as `GET /healthz`.
        pub(super) public: Option<Spanned<Vec<Spanned<String>>>>,
        /// `pass` lets a browser's preflight request pass without a token, if its method is declared for the path. `deny` if absent.
        pub(super) cors_preflight: Option<Spanned<PreflightDocument>>,
        /// The issuers whose tokens are accepted: a file of `orbgate-token`, which is followed as well.
        pub(super) tokens: Spanned<String>,
        /// The addresses that accept requests, each in one mode.
        pub(super) listeners: Spanned<Vec<ListenerDocument>>,
        /// Where operators find `/healthz`, `/readyz` and `/metrics`; nowhere if absent.
        pub(super) admin: Option<Spanned<Address>>,
        /// A file, or a pipe with a reader, that gets a line of JSON for each decision.
        pub(super) audit: Option<Spanned<String>>,
        /// `true` logs why a request is denied: `explain`'s answer, without the query or the token; only the decision if a
        /// header or the query causes the denial.
        pub(super) debug: Option<Spanned<bool>>,
        /// An existing folder that keeps the accepted policy for the next start.
        pub(super) state: Option<Spanned<String>>,
        /// The prefix of the promised headers; `X-Orb-` if absent.
        pub(super) headers: Option<Spanned<String>>,
        /// `true` adds headers that tell the backend who calls: see [responses](responses.md#identity).
        pub(super) identity: Option<Spanned<bool>>,
        /// How much a denial explains in `WWW-Authenticate`. With `none`, every denial is a bare 403. `minimal` if absent.
        pub(super) challenge: Option<Spanned<ChallengeDocument>>,
        /// The challenge's `realm`; only with `challenge: full`.
        pub(super) realm: Option<Spanned<String>>,
        /// The challenge's `resource_metadata`; only with `challenge: full`.
        pub(super) resource_metadata: Option<Spanned<String>>,
        /// `true` makes every denial a 403.
        pub(super) flat_403: Option<Spanned<bool>>,
        /// The meaning of AuthZEN requests; see below.
        pub(super) authzen: Option<AuthzenDocument>,
        /// The ledger that the mode `ledger` serves: see [its page](ledger.md).
        pub(super) ledger: Option<LedgerDocument>,
        /// The limits of each listener.
        pub(super) limits: Option<LimitsDocument>,
    }

    pub(super) enum PreflightDocument {
        Deny: "deny",
        Pass: "pass",
    }

    pub(super) struct ListenerDocument ("this listener") {
        /// The protocol of the clients.
        pub(super) mode: Spanned<Mode>,
        /// An IP address and port, or `unix:` and the absolute path of a socket.
        pub(super) listen: Spanned<Address>,
        /// The addresses of clients that are accepted; required for an IP address, except in the modes `authzen` and `ledger`.
        pub(super) trusted_proxies: Option<Spanned<Vec<Spanned<Address>>>>,
        /// Files for TLS; no TLS if absent.
        pub(super) tls: Option<TlsDocument>,
    }

    pub(super) struct TlsDocument {
        /// The server's certificate, followed by those up to its authority.
        pub(super) certificate: Spanned<String>,
        /// The private key of the certificate.
        pub(super) key: Spanned<String>,
        /// Authorities. If present, callers must show a certificate of one of them.
        pub(super) client_ca: Option<Spanned<String>>,
    }

    pub(super) struct AuthzenDocument {
        /// The address of the service from outside: `https://` and a host.
        pub(super) url: Option<Spanned<String>>,
        /// The scope that a caller's own token needs; no token is required if absent.
        pub(super) caller_scope: Option<Spanned<String>>,
        /// Subjects that have no token of their own.
        pub(super) subjects: Option<Vec<SubjectDocument>>,
        /// Actions that aren't the names of methods.
        pub(super) actions: Option<Vec<ActionDocument>>,
        /// Types of resources that are named by an id in a path.
        pub(super) resources: Option<Vec<ResourceDocument>>,
    }

    pub(super) struct SubjectDocument ("this subject") {
        /// The subject's `type`.
        pub(super) kind as "type": Spanned<String>,
        /// The subject's `id`.
        pub(super) id: Spanned<String>,
        /// The kind of token that the subject is treated as.
        pub(super) token_kind: Spanned<KindDocument>,
        /// The scopes, with spaces between them.
        pub(super) scopes: Spanned<String>,
    }

    pub(super) enum KindDocument {
        User: "user",
        Organisation: "organisation",
    }

    pub(super) struct ActionDocument ("this action") {
        /// The action's `name`.
        pub(super) name: Spanned<String>,
        /// The method that it stands for.
        pub(super) method: Spanned<String>,
    }

    pub(super) struct ResourceDocument ("this resource") {
        /// The resource's `type`.
        pub(super) kind as "type": Spanned<String>,
        /// Its path, with `{id}` as one segment.
        pub(super) path: Spanned<String>,
    }

    pub(super) struct LedgerDocument {
        /// A SQLite file, which is created if it doesn't exist, or the URL of a PostgreSQL database.
        pub(super) db: Spanned<String>,
        /// A file whose only line is the password of the PostgreSQL database. It is read for each connection.
        pub(super) password_file: Option<Spanned<String>>,
        /// One or two files, each with a secret of the gates, which may hold, extend and settle.
        pub(super) gate_secrets: Spanned<Vec<Spanned<String>>>,
        /// Up to 64 files, each with a secret of support or accounting, who may read accounts, statements, totals and entries.
        pub(super) support_secrets: Option<Spanned<Vec<Spanned<String>>>>,
        /// Up to 64 files, each with a secret of an operator, who may do everything. What one does has the name of the file, without what follows its last dot, as its author. Without one, no caller may grant here.
        pub(super) operator_secrets: Option<Spanned<Vec<Spanned<String>>>>,
    }

    pub(super) enum ChallengeDocument {
        Minimal: "minimal",
        Full: "full",
        None: "none",
    }

    pub(super) struct LimitsDocument {
        /// Open connections; 1024 if absent. `admin` has 64 of its own.
        pub(super) connections: Option<Spanned<NonZeroU64>>,
        /// Requests at the same time, without those that wait for keys; 256 if absent.
        pub(super) requests: Option<Spanned<NonZeroU64>>,
        /// The size of a request's headers, of which there are at most 100; 32768 if absent.
        pub(super) header_bytes: Option<Spanned<NonZeroU64>>,
        /// How long a connection may be idle, or a request incomplete; 75 if absent.
        pub(super) idle_seconds: Option<Spanned<NonZeroU64>>,
        /// How long requests may take to finish after a signal to stop; 10 if absent.
        pub(super) drain_seconds: Option<Spanned<NonZeroU64>>,
    }
}
