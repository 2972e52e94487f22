// Package steps is how package gate asks the engine, which is in package orbgate: what both know of it.
package steps

// Options are those of the C ABI: see OrbgateGateOptions.
type Options struct {
	Flags, Challenge, Templates uint32
	Realm, ResourceMetadata     string
	Public                      []string
	CorsPreflight               uint32
	// In milliseconds; 0 is the default.
	TTL, TTLMin, TTLMax, AheadPercent, MaxStale, Cooldown, Burst, Retry, Timeout uint32
}

// A Request is one as it came over the wire.
type Request struct {
	Method, Target                              string
	Authorization, HeaderNames                  []string
	Upgrade, Origin, AccessControlRequestMethod []string
	Flags, Matched                              uint32
	Template                                    string
}

// The numbers of the C ABI that are about gates.
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
	MatchedNothing           = 0
	MatchedTemplate          = 1
	MatchedUnknown           = 2
	StepAnswer               = 1
	StepWait                 = 2
	StepCheckSignature       = 3
	// end of numbers
)

// A Step is what comes of a question. A text that is not there is nil.
type Step struct {
	Kind    uint32
	UntilMS uint64
	// There may be something to fetch.
	MayFetch bool
	// The signature to check.
	Algorithm, Key     string
	Message, Signature []byte
	// The token, which begins with the message, for an engine that has no instructions for a hash: who checks the signature sets TokenHash
	// to what the token's SHA-256 begins with. Nil where the engine hashes.
	Token     []byte
	TokenHash uint64
	// The answer: Decision is an orbgate.Decision, made of Packed.
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
	// What the engine has of it; gone with the next call that it is given to.
	Held any
}

// A Fetch is a URL to fetch: with GET, or with POST if it has a Body, a question about a token. Body and Authorization are secret.
type Fetch struct {
	URL                 string
	Attempt             uint64
	MaxBytes            int
	TimeoutMS           uint32
	Body, Authorization string
}

// An Issuer is how the keys of one are.
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

// A Gate is one of the library. An engine is an *orbgate.Engine. No method waits for I/O.
type Gate interface {
	Ask(engine any, request *Request, unixMS, monotonicMS uint64) (*Step, error)
	// Both take the step.
	Resume(engine any, step *Step, unixMS, monotonicMS uint64) (*Step, error)
	Checked(engine any, step *Step, isRight bool, unixMS, monotonicMS uint64) (*Step, error)
	Drop(step *Step)
	IsOver(step *Step, monotonicMS uint64) bool
	// Nil where there is nothing to fetch.
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
	// CheckEngine fails if a path fits both a public route and a route of the engine's policy.
	CheckEngine(engine any) error
	// CheckWider fails if a request is public with the next engine and not with the active one.
	CheckWider(active, next any) error
	// CheckRoutes compares the routes of a service with those of an engine's policy and the public ones.
	CheckRoutes(engine any, methods, templates []string) ([]Difference, error)
	Close()
}

// New makes a gate; package orbgate sets it.
var New func(tokens string, options *Options) (Gate, error)

// ReadRegular reads a configuration, a regular file, no further than one byte more than it may have; package orbgate sets it.
var ReadRegular func(path string) ([]byte, error)
