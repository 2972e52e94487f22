// Package steps contains the types with which package gate uses the engine of package orbgate.
package steps

// Options are the options of a gate: see OrbgateGateOptions of the C ABI.
type Options struct {
	Flags, Challenge, Templates uint32
	Realm, ResourceMetadata     string
	Public                      []string
	CorsPreflight               uint32
}

// A Request is a request as received over the wire.
type Request struct {
	Method, Target                              string
	Authorization, HeaderNames                  []string
	Upgrade, Origin, AccessControlRequestMethod []string
	Flags, Matched                              uint32
	Template                                    string
}

// The numbers of the C ABI for gates.
const (
	// cargo xtask codes: numbers
	AllowBonusOrbs           = 1
	FetchUnreachable         = 1
	FetchTimeout             = 2
	FetchTooLarge            = 3
	FetchBadUrl              = 4
	GateFlat403              = 1
	GateIgnoreMethodOverride = 2
	GateSignaturesOutside    = 4
	GateNoStaleKeys          = 8
	GateIntrospection        = 16
	ChallengeMinimal         = 0
	ChallengeFull            = 1
	ChallengeNone            = 2
	CorsPreflightDeny        = 0
	CorsPreflightPass        = 1
	TemplatesBraces          = 0
	TemplatesColons          = 1
	TemplatesAngles          = 2
	WithAudit                = 4
	HoldsThread              = 8
	MatchedNothing           = 0
	MatchedTemplate          = 1
	MatchedUnknown           = 2
	StepAnswer               = 1
	StepWait                 = 2
	StepCheckSignature       = 3
	// end of numbers
)

// A Step is the next step of a request: its result, or work that the host must do first. An absent string is nil.
type Step struct {
	Kind    uint32
	UntilMS uint64
	// Whether NextFetch might return a fetch.
	MayFetch bool
	// The signature to check.
	Algorithm, Key     string
	Message, Signature []byte
	// The token, which begins with the message, if the engine lets the host hash it; otherwise nil. The code that checks the signature sets
	// TokenHash to the first 8 bytes of the token's SHA-256 hash.
	Token     []byte
	TokenHash uint64
	// The result. Decision is an orbgate.Decision, unpacked from Packed.
	Packed                   uint64
	Decision                 any
	HTTPStatus               int
	WWWAuthenticate, Allow   *string
	Refused                  string
	Misrouted, Audit         *string
	PublicTemplate           string
	Preflight                bool
	TokenKind                uint8
	Scopes, Issuer           string
	Subject, Client, ID, Act string
	Fingerprint              string
	ExpiresMS                uint64
	// The engine's part of the step, which the next call with the step consumes.
	Held any
}

// A Fetch is a URL to fetch with GET, or with POST if it has a Body, which is a question about a token. Body and Authorization are secret.
type Fetch struct {
	URL                 string
	Attempt             uint64
	MaxBytes            int
	TimeoutMS           uint32
	Body, Authorization string
}

// An Issuer is the status of an issuer's keys.
type Issuer struct {
	Name, Failure, Warnings string
	Keys                    int
	FetchedMS               uint64
	Opaque                  bool
}

// A Difference is a route that only the service or only the policy has.
type Difference struct {
	Undeclared       bool
	Route, DecidedAs string
}

// A Gate is a gate of the library. Each engine is an *orbgate.Engine. Methods never wait for I/O.
type Gate interface {
	Ask(engine any, request *Request, unixMS, monotonicMS uint64) (*Step, error)
	// Resume and Checked consume the step.
	Resume(engine any, step *Step, unixMS, monotonicMS uint64) (*Step, error)
	Checked(engine any, step *Step, isRight bool, unixMS, monotonicMS uint64) (*Step, error)
	Drop(step *Step)
	IsOver(step *Step, monotonicMS uint64) bool
	// NextFetch returns the next fetch; nil if there is none.
	NextFetch(monotonicMS uint64) *Fetch
	Fetched(attempt uint64, status int, cacheControl string, body []byte, monotonicMS uint64) *Fetch
	FetchFailed(attempt uint64, failure uint32, monotonicMS uint64)
	Warm(monotonicMS uint64)
	Revoke(issuer, kid string) error
	Forget(issuer string) error
	// ReadSecrets reads the secrets of opaque issuers again; if it fails, all of them stay as they are.
	ReadSecrets() error
	Status() []Issuer
	AllowsBonusOrbs(body []byte) bool
	// CheckEngine fails if a path matches both a public route and a route of the engine's policy.
	CheckEngine(engine any) error
	// CheckWider fails if a request is public with the next engine and not with the active one.
	CheckWider(active, next any) error
	// CheckRoutes compares the routes of a service with those of an engine's policy and the public ones.
	CheckRoutes(engine any, methods, templates []string) ([]Difference, error)
	Close()
}

// New makes a gate; package orbgate sets it.
var New func(tokens string, options *Options) (Gate, error)

// ReadRegular reads a configuration from a regular file, up to one byte above the maximum size; package orbgate sets it.
var ReadRegular func(path string) ([]byte, error)
