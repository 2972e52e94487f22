package steps

// Made of crates/orbgate-capi/src/generate/shapes.txt by `cargo xtask codes`; not to be edited.

// The numbers of answers.
const (
	KindDone             = 64
	KindFailed           = 65
	KindAnswer           = 66
	KindWait             = 67
	KindCheckSignature   = 68
	KindCall             = 69
	KindOver             = 70
	KindSecretSources    = 71
	KindKeyStatus        = 72
	KindRouteDifferences = 73
	KindReadBody         = 74
	KindLoaded           = 84
	KindCharge           = 90
	KindHoldStep         = 91
	KindLedgerCall       = 92
	KindLedgered         = 93
	KindResponded        = 94
	KindVisibleNames     = 98
)

// Sources: Asks which secrets a token configuration needs. Answered by `SecretSources` or `Failed`.
type Sources struct {
	// The token configuration, in YAML.
	Tokens string
}

// Append writes the question after these bytes.
func (m *Sources) Append(to []byte) []byte {
	to, start := begin(to, 1)
	if m.Tokens != "" {
		to = putText(to, 1, m.Tokens)
	}
	return end(to, start)
}

// Make: Makes a gate. Answered by `Done` or `Failed`; after `Done`, `orbgate_step_gate` returns the gate.
type Make struct {
	// The token configuration, in YAML: which tokens are accepted.
	Tokens string
	// Every denial has the status 403, so an unknown route looks like a missing scope.
	Flat403 bool
	// No header can override a `POST`. Unsafe if the service follows such headers.
	IgnoreMethodOverride bool
	// The host checks signatures. A library without cryptography requires it.
	SignaturesOutside bool
	// No key is used after its time; `max_stale_ms` must be 0.
	NoStaleKeys bool
	// The host sends calls that have a body, which issuers of opaque tokens need.
	Introspection bool
	// An `ORBGATE_CHALLENGE_*` number: the `WWW-Authenticate` header of denials.
	Challenge uint64
	// An `ORBGATE_TEMPLATES_*` number: the router's syntax for parameters.
	Templates uint64
	// An `ORBGATE_CORS_PREFLIGHT_*` number: how a CORS preflight is decided.
	CorsPreflight uint64
	// The realm of a full challenge: printable ASCII without `"` and `\`.
	Realm string
	// The `https` URL of the service's metadata in a full challenge (RFC 9728).
	ResourceMetadata string
	// How long keys are fresh if the issuer sends no usable `Cache-Control`. 0 selects 600 s.
	TTLMS uint64
	// The shortest time that an issuer can set. 0 selects 60 s.
	TTLMinMS uint64
	// The longest time that an issuer can set. 0 selects 3,600 s.
	TTLMaxMS uint64
	// The percentage of keys' time after which a token starts a call ahead. 0 selects 80.
	AheadPercent uint64
	// How long stale keys are used if new ones can't be fetched. 0 selects 3,600 s.
	MaxStaleMS uint64
	// The time between two attempts. 0 selects 30 s.
	CooldownMS uint64
	// How many attempts tokens with unknown keys can start at once and per cooldown. 0 selects 4.
	Burst uint64
	// The time between two attempts while there are no keys. 0 selects 1 s.
	RetryMS uint64
	// The time limit for one attempt. 0 selects 5 s.
	TimeoutMS uint64
	// Routes that need no token, as in a policy with the whole path: `GET /healthz`.
	PublicRoutes []string
	// Secrets in the order of `SecretSources`. Empty: the library reads them all.
	Secrets []Secret
	// The path of an MCP endpoint, whose requests are decided by the operations in their bodies.
	Mcp string
	// The scopes that a client without a token should ask for, separated by spaces.
	McpInitialScopes string
	// The longest body of the endpoint, at most 8 MiB. 0 selects 4 MiB.
	McpMostBytes uint64
	// Requests of protocol versions without the headers of MCP are denied.
	McpDenyLegacy bool
	// The URL of the protected resource, whose metadata (RFC 9728) the gate serves.
	Metadata string
	// Origins whose pages may send requests to the endpoint, such as `https://app.example`.
	McpOrigins []string
}

// Append writes the question after these bytes.
func (m *Make) Append(to []byte) []byte {
	to, start := begin(to, 2)
	if m.Tokens != "" {
		to = putText(to, 1, m.Tokens)
	}
	if m.Flat403 {
		to = putFlag(to, 2)
	}
	if m.IgnoreMethodOverride {
		to = putFlag(to, 3)
	}
	if m.SignaturesOutside {
		to = putFlag(to, 4)
	}
	if m.NoStaleKeys {
		to = putFlag(to, 5)
	}
	if m.Introspection {
		to = putFlag(to, 6)
	}
	if m.Challenge != 0 {
		to = putInteger(to, 7, m.Challenge)
	}
	if m.Templates != 0 {
		to = putInteger(to, 8, m.Templates)
	}
	if m.CorsPreflight != 0 {
		to = putInteger(to, 9, m.CorsPreflight)
	}
	if m.Realm != "" {
		to = putText(to, 10, m.Realm)
	}
	if m.ResourceMetadata != "" {
		to = putText(to, 11, m.ResourceMetadata)
	}
	if m.TTLMS != 0 {
		to = putInteger(to, 12, m.TTLMS)
	}
	if m.TTLMinMS != 0 {
		to = putInteger(to, 13, m.TTLMinMS)
	}
	if m.TTLMaxMS != 0 {
		to = putInteger(to, 14, m.TTLMaxMS)
	}
	if m.AheadPercent != 0 {
		to = putInteger(to, 15, m.AheadPercent)
	}
	if m.MaxStaleMS != 0 {
		to = putInteger(to, 16, m.MaxStaleMS)
	}
	if m.CooldownMS != 0 {
		to = putInteger(to, 17, m.CooldownMS)
	}
	if m.Burst != 0 {
		to = putInteger(to, 18, m.Burst)
	}
	if m.RetryMS != 0 {
		to = putInteger(to, 19, m.RetryMS)
	}
	if m.TimeoutMS != 0 {
		to = putInteger(to, 20, m.TimeoutMS)
	}
	for _, one := range m.PublicRoutes {
		to = putText(to, 21, one)
	}
	for index := range m.Secrets {
		part, start := begin(to, 22)
		to = end(m.Secrets[index].put(part), start)
	}
	if m.Mcp != "" {
		to = putText(to, 23, m.Mcp)
	}
	if m.McpInitialScopes != "" {
		to = putText(to, 24, m.McpInitialScopes)
	}
	if m.McpMostBytes != 0 {
		to = putInteger(to, 25, m.McpMostBytes)
	}
	if m.McpDenyLegacy {
		to = putFlag(to, 26)
	}
	if m.Metadata != "" {
		to = putText(to, 27, m.Metadata)
	}
	for _, one := range m.McpOrigins {
		to = putText(to, 28, one)
	}
	return end(to, start)
}

// Ask: Starts a request, as received: neither decoded nor joined. Answered by `Answer`, `Wait`, `CheckSignature`, `ReadBody` or `Charge`.
type Ask struct {
	// The method.
	Method string
	// The target: path and query, in the bytes of the request line or of `:path`.
	Target string
	// Every value of `Authorization`, one item for each header line.
	Authorization []string
	// The names of all headers, or at least those that contain `method`, in any letter case.
	HeaderNames []string
	// Every value of `Upgrade`. A request that lists `h2c` is denied.
	Upgrade []string
	// Every value of `Origin`.
	Origin []string
	// Every value of `Access-Control-Request-Method`.
	AccessControlRequestMethod []string
	// An `ORBGATE_MATCHED_*` number: what a router before the gate has chosen.
	Matched uint64
	// With `ORBGATE_MATCHED_TEMPLATE`, that template with any prefix, in the gate's syntax.
	PathTemplate string
	// The request allows bonus orbs.
	AllowBonusOrbs bool
	// The answer has a line for an audit log.
	WithAudit bool
	// A thread blocks while it waits: only one such request waits longer than a second.
	HoldsThread bool
	// The time since 1970, which determines whether tokens are valid.
	UnixMS uint64
	// The time on the monotonic clock, which determines when keys are fetched.
	MonotonicMS uint64
	// The host reads `allow_bonus_orbs`, so the audit's `bonus_allowed` isn't null.
	ReadsBonusOrbs bool
	// A ledger must hold the call's orbs: if it consumes, answered by `Charge`, or by a denial.
	Charges bool
	// A function has returned how many orbs the call consumes; otherwise the policy states it.
	HasAmount bool
	// What the function has returned. 0 holds nothing.
	Amount uint64
	// The `unpaid` of a `HoldStep` that has denied the call: answered by its denial.
	Unpaid uint64
	// That of the same `HoldStep`.
	RetryAfterMS uint64
	// The function has failed, so the call is denied.
	AmountFailed bool
	// After an allow that consumes, and after `Charge`, the step keeps the token for `again`.
	Keeps bool
	// The request of the last answer: its token isn't verified again, the rest counts as it is.
	Again bool
	// With `charges`, the `id` of the `Hold` that follows: 16 random bytes. `Charge` names it.
	Hold string
}

// Append writes the question after these bytes.
func (m *Ask) Append(to []byte) []byte {
	to, start := begin(to, 3)
	if m.Method != "" {
		to = putText(to, 1, m.Method)
	}
	if m.Target != "" {
		to = putText(to, 2, m.Target)
	}
	for _, one := range m.Authorization {
		to = putText(to, 3, one)
	}
	for _, one := range m.HeaderNames {
		to = putText(to, 4, one)
	}
	for _, one := range m.Upgrade {
		to = putText(to, 5, one)
	}
	for _, one := range m.Origin {
		to = putText(to, 6, one)
	}
	for _, one := range m.AccessControlRequestMethod {
		to = putText(to, 7, one)
	}
	if m.Matched != 0 {
		to = putInteger(to, 8, m.Matched)
	}
	if m.PathTemplate != "" {
		to = putText(to, 9, m.PathTemplate)
	}
	if m.AllowBonusOrbs {
		to = putFlag(to, 10)
	}
	if m.WithAudit {
		to = putFlag(to, 11)
	}
	if m.HoldsThread {
		to = putFlag(to, 12)
	}
	if m.UnixMS != 0 {
		to = putInteger(to, 13, m.UnixMS)
	}
	if m.MonotonicMS != 0 {
		to = putInteger(to, 14, m.MonotonicMS)
	}
	if m.ReadsBonusOrbs {
		to = putFlag(to, 15)
	}
	if m.Charges {
		to = putFlag(to, 20)
	}
	if m.HasAmount {
		to = putFlag(to, 21)
	}
	if m.Amount != 0 {
		to = putInteger(to, 22, m.Amount)
	}
	if m.Unpaid != 0 {
		to = putInteger(to, 23, m.Unpaid)
	}
	if m.RetryAfterMS != 0 {
		to = putInteger(to, 24, m.RetryAfterMS)
	}
	if m.AmountFailed {
		to = putFlag(to, 25)
	}
	if m.Keeps {
		to = putFlag(to, 26)
	}
	if m.Again {
		to = putFlag(to, 27)
	}
	if m.Hold != "" {
		to = putText(to, 28, m.Hold)
	}
	return end(to, start)
}

// Resume: Resumes a step after its `Wait` is over. The engine can be a later one. Answered like `Ask`.
type Resume struct {
	// The time since 1970.
	UnixMS uint64
	// The time on the monotonic clock.
	MonotonicMS uint64
}

// Append writes the question after these bytes.
func (m *Resume) Append(to []byte) []byte {
	to, start := begin(to, 4)
	if m.UnixMS != 0 {
		to = putInteger(to, 1, m.UnixMS)
	}
	if m.MonotonicMS != 0 {
		to = putInteger(to, 2, m.MonotonicMS)
	}
	return end(to, start)
}

// Checked: Resumes a step after its signature was checked. Answered by `Answer`, `ReadBody` or `Charge`.
type Checked struct {
	// The signature is valid.
	IsRight bool
	// The first 8 bytes of the token's SHA-256 hash, or 0 if the library must hash it.
	TokenHash uint64
	// The time since 1970.
	UnixMS uint64
	// The time on the monotonic clock.
	MonotonicMS uint64
}

// Append writes the question after these bytes.
func (m *Checked) Append(to []byte) []byte {
	to, start := begin(to, 5)
	if m.IsRight {
		to = putFlag(to, 1)
	}
	if m.TokenHash != 0 {
		to = putInteger(to, 2, m.TokenHash)
	}
	if m.UnixMS != 0 {
		to = putInteger(to, 3, m.UnixMS)
	}
	if m.MonotonicMS != 0 {
		to = putInteger(to, 4, m.MonotonicMS)
	}
	return end(to, start)
}

// IsOver: Asks whether a step's wait is over, after each report and at `until_ms`. Answered by `Over`.
type IsOver struct {
	// The time on the monotonic clock.
	MonotonicMS uint64
}

// Append writes the question after these bytes.
func (m *IsOver) Append(to []byte) []byte {
	to, start := begin(to, 6)
	if m.MonotonicMS != 0 {
		to = putInteger(to, 1, m.MonotonicMS)
	}
	return end(to, start)
}

// NextCall: Asks for the next call: at the start, after `ReadSecrets`, and after answers with `may_call`, until `Done`. Answered by `Call` or `Done`.
type NextCall struct {
	// The time on the monotonic clock.
	MonotonicMS uint64
}

// Append writes the question after these bytes.
func (m *NextCall) Append(to []byte) []byte {
	to, start := begin(to, 7)
	if m.MonotonicMS != 0 {
		to = putInteger(to, 1, m.MonotonicMS)
	}
	return end(to, start)
}

// Called: Reports the result of a call. Answered by `Call`, the next one of the attempt, or by `Done`: then steps that wait can be resumed.
type Called struct {
	// The attempt of the call. A report for one that is over has no effect.
	Attempt uint64
	// An `ORBGATE_FETCH_*` number if there is no response; otherwise 0.
	Failure uint64
	// The status of the response.
	Status uint64
	// Its headers, or at least each `Cache-Control`.
	Headers []Header
	// Its body, which can be left out if the status isn't 200.
	Body string
	// The time on the monotonic clock.
	MonotonicMS uint64
}

// Append writes the question after these bytes.
func (m *Called) Append(to []byte) []byte {
	to, start := begin(to, 8)
	if m.Attempt != 0 {
		to = putInteger(to, 1, m.Attempt)
	}
	if m.Failure != 0 {
		to = putInteger(to, 2, m.Failure)
	}
	if m.Status != 0 {
		to = putInteger(to, 3, m.Status)
	}
	for index := range m.Headers {
		part, start := begin(to, 4)
		to = end(m.Headers[index].put(part), start)
	}
	if m.Body != "" {
		to = putText(to, 5, m.Body)
	}
	if m.MonotonicMS != 0 {
		to = putInteger(to, 6, m.MonotonicMS)
	}
	return end(to, start)
}

// Warm: Requests every issuer's keys, as far as the settings allow. Answered by `Done`; then ask `NextCall`.
type Warm struct {
	// The time on the monotonic clock.
	MonotonicMS uint64
}

// Append writes the question after these bytes.
func (m *Warm) Append(to []byte) []byte {
	to, start := begin(to, 9)
	if m.MonotonicMS != 0 {
		to = putInteger(to, 1, m.MonotonicMS)
	}
	return end(to, start)
}

// Revoke: Never uses a key again. Answered by `Done`; an unknown issuer gives `ORBGATE_STATUS_NOT_FOUND`.
type Revoke struct {
	// The issuer.
	Issuer string
	// The key's `kid`.
	Kid string
}

// Append writes the question after these bytes.
func (m *Revoke) Append(to []byte) []byte {
	to, start := begin(to, 10)
	if m.Issuer != "" {
		to = putText(to, 1, m.Issuer)
	}
	if m.Kid != "" {
		to = putText(to, 2, m.Kid)
	}
	return end(to, start)
}

// Forget: Forgets an issuer's keys or answers about tokens, when it has withdrawn one. Answered like `Revoke`.
type Forget struct {
	// The issuer.
	Issuer string
}

// Append writes the question after these bytes.
func (m *Forget) Append(to []byte) []byte {
	to, start := begin(to, 11)
	if m.Issuer != "" {
		to = putText(to, 1, m.Issuer)
	}
	return end(to, start)
}

// ReadSecrets: Reads the secrets again. If one can't be read, all stay. Answered by `Done` or `Failed`.
type ReadSecrets struct {
	// As in `Make`.
	Secrets []Secret
}

// Append writes the question after these bytes.
func (m *ReadSecrets) Append(to []byte) []byte {
	to, start := begin(to, 12)
	for index := range m.Secrets {
		part, start := begin(to, 1)
		to = end(m.Secrets[index].put(part), start)
	}
	return end(to, start)
}

// Status: Asks for the status of each issuer's keys. Answered by `KeyStatus`.
type Status struct{}

// Append writes the question after these bytes.
func (m *Status) Append(to []byte) []byte {
	to, start := begin(to, 13)
	return end(to, start)
}

// CheckEngine: Checks that no path has a public route and one of the policy. Answered by `Done` or `Failed`.
type CheckEngine struct{}

// Append writes the question after these bytes.
func (m *CheckEngine) Append(to []byte) []byte {
	to, start := begin(to, 14)
	return end(to, start)
}

// CheckRoutes: Compares a service's routes with the policy's and the gate's. Answered by `RouteDifferences`.
type CheckRoutes struct {
	// The routes of the service.
	Routes []ServiceRoute
	// Without a gate, an `ORBGATE_TEMPLATES_*` number: the syntax of the templates.
	Templates uint64
}

// Append writes the question after these bytes.
func (m *CheckRoutes) Append(to []byte) []byte {
	to, start := begin(to, 15)
	for index := range m.Routes {
		part, start := begin(to, 1)
		to = end(m.Routes[index].put(part), start)
	}
	if m.Templates != 0 {
		to = putInteger(to, 2, m.Templates)
	}
	return end(to, start)
}

// Drop: Ends a step's request, for example when the client disconnects. Answered by `Done`.
type Drop struct{}

// Append writes the question after these bytes.
func (m *Drop) Append(to []byte) []byte {
	to, start := begin(to, 16)
	return end(to, start)
}

// Body: Decides a request after its `ReadBody`. Answered by `Answer` or `Charge`.
type Body struct {
	// The whole body as received, unless one of the flags is set.
	Body string
	// The body is longer than allowed.
	TooLarge bool
	// Header lines, at least each that starts with `content` or `mcp` in any case.
	Headers []Header
	// The time since 1970, for the audit log.
	UnixMS uint64
	// There was no room for the body.
	Busy bool
	// The body couldn't be read.
	Unreadable bool
}

// Append writes the question after these bytes.
func (m *Body) Append(to []byte) []byte {
	to, start := begin(to, 17)
	if m.Body != "" {
		to = putText(to, 1, m.Body)
	}
	if m.TooLarge {
		to = putFlag(to, 2)
	}
	for index := range m.Headers {
		part, start := begin(to, 3)
		to = end(m.Headers[index].put(part), start)
	}
	if m.UnixMS != 0 {
		to = putInteger(to, 4, m.UnixMS)
	}
	if m.Busy {
		to = putFlag(to, 5)
	}
	if m.Unreadable {
		to = putFlag(to, 6)
	}
	return end(to, start)
}

// Reload: Checks a version of the policy. The engine is the active one, or null before the first. Answered by `Loaded`.
type Reload struct {
	// The contents of the file. Without `interval_ms`, it must have an end marker.
	Policy string
	// Why the file can't be read; empty if it was read.
	Failure string
	// Reject a version without a seal.
	RequireSeal bool
	// Reject a version that allows more than the active one, or for fewer orbs.
	RefuseWider bool
	// As in `Make`.
	Secrets []Secret
	// Ask with this step after each `pause_ms`, until `Drop`: a version counts once it was read twice without a change. 0: it counts now.
	IntervalMS uint64
	// An operator waits for the result.
	IsTold bool
	// The time on the monotonic clock.
	MonotonicMS uint64
	// The name of the file, for errors and the log.
	File string
	// Why the host can't read a secret; then no version is loaded. Otherwise empty.
	SecretsFailure string
	// A ledger charges calls, so each route that consumes orbs must have an amount.
	HasLedger bool
	// The routes with a function that states the amount.
	Amounts []string
}

// Append writes the question after these bytes.
func (m *Reload) Append(to []byte) []byte {
	to, start := begin(to, 24)
	if m.Policy != "" {
		to = putText(to, 1, m.Policy)
	}
	if m.Failure != "" {
		to = putText(to, 2, m.Failure)
	}
	if m.RequireSeal {
		to = putFlag(to, 3)
	}
	if m.RefuseWider {
		to = putFlag(to, 4)
	}
	for index := range m.Secrets {
		part, start := begin(to, 5)
		to = end(m.Secrets[index].put(part), start)
	}
	if m.IntervalMS != 0 {
		to = putInteger(to, 6, m.IntervalMS)
	}
	if m.IsTold {
		to = putFlag(to, 7)
	}
	if m.MonotonicMS != 0 {
		to = putInteger(to, 8, m.MonotonicMS)
	}
	if m.File != "" {
		to = putText(to, 9, m.File)
	}
	if m.SecretsFailure != "" {
		to = putText(to, 10, m.SecretsFailure)
	}
	if m.HasLedger {
		to = putFlag(to, 11)
	}
	for _, one := range m.Amounts {
		to = putText(to, 12, one)
	}
	return end(to, start)
}

// UseLedger: Makes the step the holds of a process in a ledger service, for `Hold` to `LedgerCalled`, until `Drop`. Answered by `Ledgered` or `Failed`.
type UseLedger struct {
	// A call is charged whose handler, or begun stream, stopped midway.
	CapturesCancelled bool
	// How long a hold lasts if the process stops. 0 selects 60 s.
	TTLMS uint64
	// How long a call waits for the service before it is denied. 0 selects 2 s.
	TimeoutMS uint64
	// How many settlements can wait for the service. 0 selects 4,096.
	Queue uint64
	// Such a call isn't charged. One of the two must be true.
	VoidsCancelled bool
	// A call at an MCP endpoint is charged whose result has `isError`.
	CapturesToolErrors bool
	// It isn't charged. With an MCP endpoint, one of the two must be true.
	VoidsToolErrors bool
	// A call at an MCP endpoint is charged whose result asks for input.
	CapturesInputRequired bool
	// It isn't charged. With an MCP endpoint, one of the two must be true.
	VoidsInputRequired bool
}

// Append writes the question after these bytes.
func (m *UseLedger) Append(to []byte) []byte {
	to, start := begin(to, 30)
	if m.CapturesCancelled {
		to = putFlag(to, 1)
	}
	if m.TTLMS != 0 {
		to = putInteger(to, 2, m.TTLMS)
	}
	if m.TimeoutMS != 0 {
		to = putInteger(to, 3, m.TimeoutMS)
	}
	if m.Queue != 0 {
		to = putInteger(to, 4, m.Queue)
	}
	if m.VoidsCancelled {
		to = putFlag(to, 5)
	}
	if m.CapturesToolErrors {
		to = putFlag(to, 6)
	}
	if m.VoidsToolErrors {
		to = putFlag(to, 7)
	}
	if m.CapturesInputRequired {
		to = putFlag(to, 8)
	}
	if m.VoidsInputRequired {
		to = putFlag(to, 9)
	}
	return end(to, start)
}

// Hold: Begins to hold the orbs of a `Charge`. Answered by `HoldStep`.
type Hold struct {
	// 16 random bytes, new for each request.
	ID string
	// That of the `Charge`, and so are the others.
	Account string
	// How many orbs.
	Amount uint64
	// Bonus orbs may be used.
	Bonus bool
	// What the service notes.
	Note string
	// The time on the monotonic clock.
	MonotonicMS uint64
}

// Append writes the question after these bytes.
func (m *Hold) Append(to []byte) []byte {
	to, start := begin(to, 31)
	if m.ID != "" {
		to = putText(to, 1, m.ID)
	}
	if m.Account != "" {
		to = putText(to, 2, m.Account)
	}
	if m.Amount != 0 {
		to = putInteger(to, 3, m.Amount)
	}
	if m.Bonus {
		to = putFlag(to, 4)
	}
	if m.Note != "" {
		to = putText(to, 5, m.Note)
	}
	if m.MonotonicMS != 0 {
		to = putInteger(to, 6, m.MonotonicMS)
	}
	return end(to, start)
}

// Held: Reports what the service has answered to the call of a `HoldStep`. Answered by `HoldStep`.
type Held struct {
	// The id of the hold.
	ID string
	// The HTTP status; 0 without an answer.
	Status uint64
	// The body.
	Body string
	// The time since 1970.
	UnixMS uint64
	// The time on the monotonic clock.
	MonotonicMS uint64
}

// Append writes the question after these bytes.
func (m *Held) Append(to []byte) []byte {
	to, start := begin(to, 32)
	if m.ID != "" {
		to = putText(to, 1, m.ID)
	}
	if m.Status != 0 {
		to = putInteger(to, 2, m.Status)
	}
	if m.Body != "" {
		to = putText(to, 3, m.Body)
	}
	if m.UnixMS != 0 {
		to = putInteger(to, 4, m.UnixMS)
	}
	if m.MonotonicMS != 0 {
		to = putInteger(to, 5, m.MonotonicMS)
	}
	return end(to, start)
}

// Waited: The request has waited. Answered by `HoldStep`.
type Waited struct {
	// The id of the hold.
	ID string
	// The time on the monotonic clock.
	MonotonicMS uint64
}

// Append writes the question after these bytes.
func (m *Waited) Append(to []byte) []byte {
	to, start := begin(to, 33)
	if m.ID != "" {
		to = putText(to, 1, m.ID)
	}
	if m.MonotonicMS != 0 {
		to = putInteger(to, 2, m.MonotonicMS)
	}
	return end(to, start)
}

// Ended: Reports once how the handler of a hold has ended. Answered by `Ledgered`; then ask for the next call.
type Ended struct {
	// The id of the hold.
	ID string
	// It was stopped midway, or its stream failed after the first byte.
	Cancelled bool
	// The HTTP status of the whole answer; 0 if it or the handler failed before the first byte.
	Status uint64
	// The handler has stated how many orbs it has consumed.
	IsStated bool
	// How many.
	Stated uint64
	// The time on the monotonic clock.
	MonotonicMS uint64
	// It never ran.
	NeverRan bool
	// Of a call at an MCP endpoint, the `end` of its last `Responded`; 0 for any other.
	Response uint64
}

// Append writes the question after these bytes.
func (m *Ended) Append(to []byte) []byte {
	to, start := begin(to, 34)
	if m.ID != "" {
		to = putText(to, 1, m.ID)
	}
	if m.Cancelled {
		to = putFlag(to, 2)
	}
	if m.Status != 0 {
		to = putInteger(to, 3, m.Status)
	}
	if m.IsStated {
		to = putFlag(to, 4)
	}
	if m.Stated != 0 {
		to = putInteger(to, 5, m.Stated)
	}
	if m.MonotonicMS != 0 {
		to = putInteger(to, 6, m.MonotonicMS)
	}
	if m.NeverRan {
		to = putFlag(to, 7)
	}
	if m.Response != 0 {
		to = putInteger(to, 8, m.Response)
	}
	return end(to, start)
}

// NextLedgerCall: Asks for the next message to the service, after each report and at `wake_ms`. Send one at a time. Answered by `LedgerCall` or `Ledgered`.
type NextLedgerCall struct {
	// The time on the monotonic clock.
	MonotonicMS uint64
}

// Append writes the question after these bytes.
func (m *NextLedgerCall) Append(to []byte) []byte {
	to, start := begin(to, 35)
	if m.MonotonicMS != 0 {
		to = putInteger(to, 1, m.MonotonicMS)
	}
	return end(to, start)
}

// LedgerCalled: Reports what the service has answered. Answered by `Ledgered`; then ask for the next call.
type LedgerCalled struct {
	// The number of the `LedgerCall`.
	Call uint64
	// The HTTP status; 0 without an answer.
	Status uint64
	// The body.
	Body string
	// The time on the monotonic clock.
	MonotonicMS uint64
}

// Append writes the question after these bytes.
func (m *LedgerCalled) Append(to []byte) []byte {
	to, start := begin(to, 36)
	if m.Call != 0 {
		to = putInteger(to, 1, m.Call)
	}
	if m.Status != 0 {
		to = putInteger(to, 2, m.Status)
	}
	if m.Body != "" {
		to = putText(to, 3, m.Body)
	}
	if m.MonotonicMS != 0 {
		to = putInteger(to, 4, m.MonotonicMS)
	}
	return end(to, start)
}

// CheckAmounts: Checks that each route that consumes orbs has an amount or a function, and that functions have routes. Answered by `Done` or `Failed`.
type CheckAmounts struct {
	// The routes with a function, as the policy names them.
	Functions []string
}

// Append writes the question after these bytes.
func (m *CheckAmounts) Append(to []byte) []byte {
	to, start := begin(to, 37)
	for _, one := range m.Functions {
		to = putText(to, 1, one)
	}
	return end(to, start)
}

// ReadResponse: Makes the step, until `Drop`, the reader of the response of an MCP endpoint; ask before the handler runs. Answered by `Responded`.
type ReadResponse struct {
	// That of the `Charge`.
	McpID string
	// That of the `Charge`.
	McpLegacy bool
}

// Append writes the question after these bytes.
func (m *ReadResponse) Append(to []byte) []byte {
	to, start := begin(to, 38)
	if m.McpID != "" {
		to = putText(to, 1, m.McpID)
	}
	if m.McpLegacy {
		to = putFlag(to, 2)
	}
	return end(to, start)
}

// ResponseBegins: The response begins. Answered by `Responded`.
type ResponseBegins struct {
	// Its header lines: at least `Content-Type` and `Content-Encoding`.
	Headers []Header
}

// Append writes the question after these bytes.
func (m *ResponseBegins) Append(to []byte) []byte {
	to, start := begin(to, 39)
	for index := range m.Headers {
		part, start := begin(to, 1)
		to = end(m.Headers[index].put(part), start)
	}
	return end(to, start)
}

// ResponsePiece: A piece of its body. Answered by `Responded`.
type ResponsePiece struct {
	// The bytes.
	Piece string
}

// Append writes the question after these bytes.
func (m *ResponsePiece) Append(to []byte) []byte {
	to, start := begin(to, 40)
	if m.Piece != "" {
		to = putText(to, 1, m.Piece)
	}
	return end(to, start)
}

// Visible: Asks which names a token may pass to a method of the MCP endpoint. Answered by `VisibleNames`.
type Visible struct {
	// The kind of the token, an `OrbgateTokenKind`.
	Kind uint64
	// Its scopes.
	Scopes string
	// `tools/call` for tools, `prompts/get` for prompts, `resources/read` for URIs.
	Method string
	// The names.
	Names []string
}

// Append writes the question after these bytes.
func (m *Visible) Append(to []byte) []byte {
	to, start := begin(to, 44)
	if m.Kind != 0 {
		to = putInteger(to, 1, m.Kind)
	}
	if m.Scopes != "" {
		to = putText(to, 2, m.Scopes)
	}
	if m.Method != "" {
		to = putText(to, 3, m.Method)
	}
	for _, one := range m.Names {
		to = putText(to, 4, one)
	}
	return end(to, start)
}

// Secret: A secret that the host passes.
type Secret struct {
	// The secret; absent if the library reads it from its file or environment variable.
	Value *string
}

func (m *Secret) put(to []byte) []byte {
	if m.Value != nil {
		to = putText(to, 1, *m.Value)
	}
	return to
}

// Header: A header line.
type Header struct {
	// Its name, in any letter case.
	Name string
	// Its value.
	Value string
}

func (m *Header) put(to []byte) []byte {
	if m.Name != "" {
		to = putText(to, 1, m.Name)
	}
	if m.Value != "" {
		to = putText(to, 2, m.Value)
	}
	return to
}

// ServiceRoute: A route of a service.
type ServiceRoute struct {
	// Its method.
	Method string
	// Its template.
	PathTemplate string
}

func (m *ServiceRoute) put(to []byte) []byte {
	if m.Method != "" {
		to = putText(to, 1, m.Method)
	}
	if m.PathTemplate != "" {
		to = putText(to, 2, m.PathTemplate)
	}
	return to
}

// A Reply is an answer: Number is which one.
type Reply struct {
	Number uint32

	Done

	Failed

	Answer

	Wait

	CheckSignature

	Call

	Over

	SecretSources

	KeyStatus

	RouteDifferences

	ReadBody

	Loaded

	Charge

	HoldStep

	LedgerCall

	Ledgered

	Responded

	VisibleNames
}

// Read reads an answer over an earlier one; false if it isn't one, or if it has something unknown and critical.
func (r *Reply) Read(message []byte) bool {
	number, fields, ok := open(message)
	r.Number = number
	switch {
	case !ok:
	case number == KindDone:
		ok = r.Done.read(fields)
	case number == KindFailed:
		ok = r.Failed.read(fields)
	case number == KindAnswer:
		ok = r.Answer.read(fields)
	case number == KindWait:
		ok = r.Wait.read(fields)
	case number == KindCheckSignature:
		ok = r.CheckSignature.read(fields)
	case number == KindCall:
		ok = r.Call.read(fields)
	case number == KindOver:
		ok = r.Over.read(fields)
	case number == KindSecretSources:
		ok = r.SecretSources.read(fields)
	case number == KindKeyStatus:
		ok = r.KeyStatus.read(fields)
	case number == KindRouteDifferences:
		ok = r.RouteDifferences.read(fields)
	case number == KindReadBody:
		ok = r.ReadBody.read(fields)
	case number == KindLoaded:
		ok = r.Loaded.read(fields)
	case number == KindCharge:
		ok = r.Charge.read(fields)
	case number == KindHoldStep:
		ok = r.HoldStep.read(fields)
	case number == KindLedgerCall:
		ok = r.LedgerCall.read(fields)
	case number == KindLedgered:
		ok = r.Ledgered.read(fields)
	case number == KindResponded:
		ok = r.Responded.read(fields)
	case number == KindVisibleNames:
		ok = r.VisibleNames.read(fields)
	default:
		ok = false
	}
	if !ok {
		*r = Reply{}
	}
	return ok
}

// Done: The question is done.
type Done struct {
	// What to log, one sentence on each line: of `NextCall`; of `CheckEngine` if nothing charges.
	Notices string
	// The level of each line of `notices`, on a line of its own: `info`, `warning` or `error`.
	Levels string
}

func (m *Done) read(fields []byte) bool {
	*m = Done{}
	var seen uint32
	for len(fields) > 0 {
		tag, bytes, rest, ok := next(fields)
		if !ok {
			return false
		}
		bit := once(tag, 0x6)
		if seen&bit != 0 {
			return false
		}
		seen |= bit
		fields = rest
		switch tag {
		case 1:
			m.Notices = string(bytes)
		case 2:
			m.Levels = string(bytes)
		default:
			ok = tag < critical
		}
		if !ok {
			return false
		}
	}
	return true
}

// Failed: A configuration or an option has errors.
type Failed struct {
	// The `OrbgateStatus` of the error.
	Status uint64
	// All errors in one string, each on a line `line:column: message`.
	Message string
	// The errors that have a position, in the order of the file.
	Diagnostics []Diagnostic
}

func (m *Failed) read(fields []byte) bool {
	*m = Failed{}
	var seen uint32
	for len(fields) > 0 {
		tag, bytes, rest, ok := next(fields)
		if !ok {
			return false
		}
		bit := once(tag, 0x6)
		if seen&bit != 0 {
			return false
		}
		seen |= bit
		fields = rest
		switch tag {
		case critical | 1:
			m.Status, ok = integer(bytes)
		case 2:
			m.Message = string(bytes)
		case 3:
			var one Diagnostic
			ok = one.read(bytes)
			m.Diagnostics = append(m.Diagnostics, one)
		default:
			ok = tag < critical
		}
		if !ok {
			return false
		}
	}
	return true
}

// Answer: The result of a request. Only an allow without `http_status` permits it.
type Answer struct {
	// The decision, packed as with `ORBGATE_PACK_ABOUT`.
	Packed uint64
	// The status of the response to a denied request; 0 for an allow.
	HTTPStatus uint64
	// The request is allowed only as a preflight, so run only a handler of `OPTIONS`.
	Preflight bool
	// The `WWW-Authenticate` header of a denial.
	WWWAuthenticate *string
	// The `Allow` header of a denial.
	Allow *string
	// Why the token is rejected, such as `expired`, only for logs and counters.
	Refused string
	// What the router chose instead of the allowed route; empty if it is unknown. Count it.
	Misrouted *string
	// The template of an allowed request that needs no token.
	PublicTemplate string
	// With `with_audit`, a JSON line for an audit log, without a line feed.
	Audit *string
	// HasToken is whether there is one.
	HasToken bool
	// The verified token; absent without a valid token.
	Token Token
	// `NextCall` might be answered by a call.
	MayCall bool
	// The response's body, if it has one: JSON, such as the metadata of the resource at a 200.
	Body []byte
	// More headers of the response.
	Headers []CallHeader
	// The seconds of its `Retry-After` header; 0 if it has none.
	RetryAfter uint64
}

func (m *Answer) read(fields []byte) bool {
	old := *m
	*m = Answer{Token: old.Token}
	var seen uint32
	for len(fields) > 0 {
		tag, bytes, rest, ok := next(fields)
		if !ok {
			return false
		}
		bit := once(tag, 0x5ffe)
		if seen&bit != 0 {
			return false
		}
		seen |= bit
		fields = rest
		switch tag {
		case critical | 1:
			m.Packed, ok = integer(bytes)
		case critical | 2:
			m.HTTPStatus, ok = integer(bytes)
		case critical | 3:
			m.Preflight, ok = true, len(bytes) == 0
		case 4:
			text := string(bytes)
			m.WWWAuthenticate = &text
		case 5:
			text := string(bytes)
			m.Allow = &text
		case 6:
			m.Refused = string(bytes)
		case 7:
			text := string(bytes)
			m.Misrouted = &text
		case 8:
			m.PublicTemplate = string(bytes)
		case 9:
			text := string(bytes)
			m.Audit = &text
		case 10:
			m.HasToken = true
			ok = m.Token.read(bytes)
		case 11:
			m.MayCall, ok = true, len(bytes) == 0
		case critical | 12:
			m.Body = append([]byte{}, bytes...)
		case 13:
			var one CallHeader
			ok = one.read(bytes)
			m.Headers = append(m.Headers, one)
		case 14:
			m.RetryAfter, ok = integer(bytes)
		default:
			ok = tag < critical
		}
		if !ok {
			return false
		}
	}
	if !m.HasToken {
		m.Token = Token{}
	}
	return true
}

// Wait: The request needs keys, or an answer about its token. Send the calls of `NextCall`, wait until `IsOver` says so or `until_ms`, and resume.
type Wait struct {
	// When the wait ends even without a report, on the monotonic clock.
	UntilMS uint64
	// `NextCall` might be answered by a call.
	MayCall bool
}

func (m *Wait) read(fields []byte) bool {
	*m = Wait{}
	var seen uint32
	for len(fields) > 0 {
		tag, bytes, rest, ok := next(fields)
		if !ok {
			return false
		}
		bit := once(tag, 0x6)
		if seen&bit != 0 {
			return false
		}
		seen |= bit
		fields = rest
		switch tag {
		case critical | 1:
			m.UntilMS, ok = integer(bytes)
		case 2:
			m.MayCall, ok = true, len(bytes) == 0
		default:
			ok = tag < critical
		}
		if !ok {
			return false
		}
	}
	return true
}

// CheckSignature: Report with `Checked` whether this signature is valid. The algorithm fits the key, and key and signature have a valid form and length.
type CheckSignature struct {
	// The algorithm, such as `RS256`. ECDSA signatures are two numbers, not DER (RFC 7518 §3.4); PSS has a salt as long as its hash.
	Algorithm string
	// The key as a JWK with only its required members. Equal keys have equal strings. If it can't be imported, the signature is invalid.
	Key string
	// The token, whose first `signed` bytes are the signed ones.
	Token []byte
	// How many bytes of the token are signed.
	Signed uint64
	// The signature.
	Signature []byte
	// `NextCall` might be answered by a call.
	MayCall bool
}

func (m *CheckSignature) read(fields []byte) bool {
	old := *m
	*m = CheckSignature{Token: old.Token[:0], Signature: old.Signature[:0]}
	var seen uint32
	for len(fields) > 0 {
		tag, bytes, rest, ok := next(fields)
		if !ok {
			return false
		}
		bit := once(tag, 0x7e)
		if seen&bit != 0 {
			return false
		}
		seen |= bit
		fields = rest
		switch tag {
		case critical | 1:
			m.Algorithm = kept(old.Algorithm, bytes)
		case critical | 2:
			m.Key = kept(old.Key, bytes)
		case critical | 3:
			m.Token = append(m.Token, bytes...)
		case critical | 4:
			m.Signed, ok = integer(bytes)
		case critical | 5:
			m.Signature = append(m.Signature, bytes...)
		case 6:
			m.MayCall, ok = true, len(bytes) == 0
		default:
			ok = tag < critical
		}
		if !ok {
			return false
		}
	}
	return true
}

// Call: A call to make without following redirects. In any case, report the result with `Called`.
type Call struct {
	// The attempt that needs it.
	Attempt uint64
	// Its method.
	Method string
	// `https`, or a loopback address.
	URL string
	// Its headers. One of them can contain a secret, so don't log them.
	Headers []CallHeader
	// Its body, if it has one. It can contain a token, so don't log it.
	Body []byte
	// If the response hasn't arrived after this time, report `ORBGATE_FETCH_TIMEOUT`.
	TimeoutMS uint64
	// If the body is longer, stop reading and report `ORBGATE_FETCH_TOO_LARGE`.
	MaxBytes uint64
}

func (m *Call) read(fields []byte) bool {
	*m = Call{}
	var seen uint32
	for len(fields) > 0 {
		tag, bytes, rest, ok := next(fields)
		if !ok {
			return false
		}
		bit := once(tag, 0xee)
		if seen&bit != 0 {
			return false
		}
		seen |= bit
		fields = rest
		switch tag {
		case critical | 1:
			m.Attempt, ok = integer(bytes)
		case critical | 2:
			m.Method = string(bytes)
		case critical | 3:
			m.URL = string(bytes)
		case critical | 4:
			var one CallHeader
			ok = one.read(bytes)
			m.Headers = append(m.Headers, one)
		case critical | 5:
			m.Body = append([]byte{}, bytes...)
		case critical | 6:
			m.TimeoutMS, ok = integer(bytes)
		case critical | 7:
			m.MaxBytes, ok = integer(bytes)
		default:
			ok = tag < critical
		}
		if !ok {
			return false
		}
	}
	return true
}

// Over: Whether the wait of a step is over.
type Over struct {
	// The step can be resumed.
	IsOver bool
}

func (m *Over) read(fields []byte) bool {
	*m = Over{}
	var seen uint32
	for len(fields) > 0 {
		tag, bytes, rest, ok := next(fields)
		if !ok {
			return false
		}
		bit := once(tag, 0x2)
		if seen&bit != 0 {
			return false
		}
		seen |= bit
		fields = rest
		switch tag {
		case critical | 1:
			m.IsOver, ok = true, len(bytes) == 0
		default:
			ok = tag < critical
		}
		if !ok {
			return false
		}
	}
	return true
}

// SecretSources: Where the secrets of a token configuration are, in the order of the issuers that have one.
type SecretSources struct {
	// The sources.
	Sources []SecretSource
}

func (m *SecretSources) read(fields []byte) bool {
	*m = SecretSources{}
	for len(fields) > 0 {
		tag, bytes, rest, ok := next(fields)
		if !ok {
			return false
		}
		fields = rest
		switch tag {
		case critical | 1:
			var one SecretSource
			ok = one.read(bytes)
			m.Sources = append(m.Sources, one)
		default:
			ok = tag < critical
		}
		if !ok {
			return false
		}
	}
	return true
}

// KeyStatus: The status of the keys at one moment.
type KeyStatus struct {
	// The issuers, in the order of the configuration.
	Issuers []IssuerStatus
}

func (m *KeyStatus) read(fields []byte) bool {
	*m = KeyStatus{}
	for len(fields) > 0 {
		tag, bytes, rest, ok := next(fields)
		if !ok {
			return false
		}
		fields = rest
		switch tag {
		case 1:
			var one IssuerStatus
			ok = one.read(bytes)
			m.Issuers = append(m.Issuers, one)
		default:
			ok = tag < critical
		}
		if !ok {
			return false
		}
	}
	return true
}

// RouteDifferences: The differences between the routes of a service and of its policy; empty if they are the same.
type RouteDifferences struct {
	// First what the policy lacks, then what the service lacks.
	Differences []RouteDifference
}

func (m *RouteDifferences) read(fields []byte) bool {
	*m = RouteDifferences{}
	for len(fields) > 0 {
		tag, bytes, rest, ok := next(fields)
		if !ok {
			return false
		}
		fields = rest
		switch tag {
		case critical | 1:
			var one RouteDifference
			ok = one.read(bytes)
			m.Differences = append(m.Differences, one)
		default:
			ok = tag < critical
		}
		if !ok {
			return false
		}
	}
	return true
}

// ReadBody: The request is for an MCP endpoint, and its token is valid. Read its body and ask with `Body`.
type ReadBody struct {
	// If the body is longer, stop reading and report `too_large`.
	MostBytes uint64
	// `NextCall` might be answered by a call.
	MayCall bool
	// The most bytes of all bodies that the host holds; one without `Content-Length` counts as `most_bytes`. Without room, report `busy`.
	MostHeld uint64
}

func (m *ReadBody) read(fields []byte) bool {
	*m = ReadBody{}
	var seen uint32
	for len(fields) > 0 {
		tag, bytes, rest, ok := next(fields)
		if !ok {
			return false
		}
		bit := once(tag, 0xe)
		if seen&bit != 0 {
			return false
		}
		seen |= bit
		fields = rest
		switch tag {
		case critical | 1:
			m.MostBytes, ok = integer(bytes)
		case 2:
			m.MayCall, ok = true, len(bytes) == 0
		case critical | 3:
			m.MostHeld, ok = integer(bytes)
		default:
			ok = tag < critical
		}
		if !ok {
			return false
		}
	}
	return true
}

// Loaded: What became of a version of the policy. A first one with the engine's digest is active already.
type Loaded struct {
	// Make an engine of the same bytes and activate it. The secrets were read again.
	IsLoaded bool
	// The label of `orbgate_policy_loads_total`, such as `wider`; empty if nothing is counted.
	Result string
	// What to log: the digest, or why the previous policy stays active.
	Message string
	// What to log as a warning, such as the changes for callers; empty if there is nothing.
	Warning string
	// The `OrbgateStatus` of a rejection; otherwise 0.
	Status uint64
	// The errors of a policy or a configuration that have a position.
	Diagnostics []Diagnostic
	// With `interval_ms`, when to ask again.
	PauseMS uint64
	// Why a version is rejected, for the language's error: each error on a line, with the file.
	Reason string
}

func (m *Loaded) read(fields []byte) bool {
	*m = Loaded{}
	var seen uint32
	for len(fields) > 0 {
		tag, bytes, rest, ok := next(fields)
		if !ok {
			return false
		}
		bit := once(tag, 0x1be)
		if seen&bit != 0 {
			return false
		}
		seen |= bit
		fields = rest
		switch tag {
		case critical | 1:
			m.IsLoaded, ok = true, len(bytes) == 0
		case 2:
			m.Result = string(bytes)
		case 3:
			m.Message = string(bytes)
		case 4:
			m.Warning = string(bytes)
		case 5:
			m.Status, ok = integer(bytes)
		case 6:
			var one Diagnostic
			ok = one.read(bytes)
			m.Diagnostics = append(m.Diagnostics, one)
		case 7:
			m.PauseMS, ok = integer(bytes)
		case 8:
			m.Reason = string(bytes)
		default:
			ok = tag < critical
		}
		if !ok {
			return false
		}
	}
	return true
}

// Charge: The call is allowed and consumes orbs: before its handler runs, ask the ledger's step with `Hold`.
type Charge struct {
	// The account.
	Account []byte
	// How many orbs.
	Amount uint64
	// Bonus orbs may be used.
	Bonus bool
	// What the service notes: the route and the policy's digest.
	Note []byte
	// If it isn't empty, the response of an MCP endpoint settles it: ask with `ReadResponse`.
	McpID []byte
	// Its protocol version is an older one.
	McpLegacy bool
	// With `with_audit`, the audit's line once the orbs are held, instead of the answer's.
	Audit *string
	// The id of the hold in the ledger, for the service's own log.
	HoldID string
}

func (m *Charge) read(fields []byte) bool {
	old := *m
	*m = Charge{Account: old.Account[:0], Note: old.Note[:0], McpID: old.McpID[:0]}
	var seen uint32
	for len(fields) > 0 {
		tag, bytes, rest, ok := next(fields)
		if !ok {
			return false
		}
		bit := once(tag, 0x1fe)
		if seen&bit != 0 {
			return false
		}
		seen |= bit
		fields = rest
		switch tag {
		case critical | 1:
			m.Account = append(m.Account, bytes...)
		case critical | 2:
			m.Amount, ok = integer(bytes)
		case critical | 3:
			m.Bonus, ok = true, len(bytes) == 0
		case critical | 4:
			m.Note = append(m.Note, bytes...)
		case critical | 5:
			m.McpID = append(m.McpID, bytes...)
		case critical | 6:
			m.McpLegacy, ok = true, len(bytes) == 0
		case 7:
			text := string(bytes)
			m.Audit = &text
		case 8:
			m.HoldID = string(bytes)
		default:
			ok = tag < critical
		}
		if !ok {
			return false
		}
	}
	return true
}

// HoldStep: What a request that waits for its orbs must do next.
type HoldStep struct {
	// The orbs are held: run the handler.
	MayRun bool
	// If it isn't empty, POST to this path with the secret as bearer token, and report `Held`.
	Path string
	// Its body, which is JSON.
	Body []byte
	// After this time the call has failed.
	TimeoutMS uint64
	// If it isn't 0, wait until this monotonic time and ask with `Waited`. Otherwise deny.
	UntilMS uint64
	// Of a denial: for `unpaid` of `Ask`.
	Unpaid uint64
	// Of a denial: for `Ask`.
	RetryAfterMS uint64
	// At the end, the label of `orbgate_holds_total`.
	Result string
}

func (m *HoldStep) read(fields []byte) bool {
	old := *m
	*m = HoldStep{Body: old.Body[:0]}
	var seen uint32
	for len(fields) > 0 {
		tag, bytes, rest, ok := next(fields)
		if !ok {
			return false
		}
		bit := once(tag, 0x1fe)
		if seen&bit != 0 {
			return false
		}
		seen |= bit
		fields = rest
		switch tag {
		case critical | 1:
			m.MayRun, ok = true, len(bytes) == 0
		case critical | 2:
			m.Path = string(bytes)
		case critical | 3:
			m.Body = append(m.Body, bytes...)
		case critical | 4:
			m.TimeoutMS, ok = integer(bytes)
		case critical | 5:
			m.UntilMS, ok = integer(bytes)
		case 6:
			m.Unpaid, ok = integer(bytes)
		case 7:
			m.RetryAfterMS, ok = integer(bytes)
		case 8:
			m.Result = string(bytes)
		default:
			ok = tag < critical
		}
		if !ok {
			return false
		}
	}
	return true
}

// LedgerCall: The next message to the service. Report it with `LedgerCalled`.
type LedgerCall struct {
	// Its number.
	Call uint64
	// Its path. By POST, like that of `HoldStep`.
	Path string
	// Its body.
	Body []byte
	// After this time the call has failed.
	TimeoutMS uint64
}

func (m *LedgerCall) read(fields []byte) bool {
	old := *m
	*m = LedgerCall{Body: old.Body[:0]}
	var seen uint32
	for len(fields) > 0 {
		tag, bytes, rest, ok := next(fields)
		if !ok {
			return false
		}
		bit := once(tag, 0x1e)
		if seen&bit != 0 {
			return false
		}
		seen |= bit
		fields = rest
		switch tag {
		case critical | 1:
			m.Call, ok = integer(bytes)
		case critical | 2:
			m.Path = string(bytes)
		case critical | 3:
			m.Body = append(m.Body, bytes...)
		case critical | 4:
			m.TimeoutMS, ok = integer(bytes)
		default:
			ok = tag < critical
		}
		if !ok {
			return false
		}
	}
	return true
}

// Ledgered: The state of a ledger's step.
type Ledgered struct {
	// Ask with `NextLedgerCall` at `wake_ms`; otherwise only after a report.
	Wakes bool
	// On the monotonic clock.
	WakeMS uint64
	// How many settlements wait for the service.
	Waiting uint64
	// How many calls were charged so far.
	Captured uint64
	// How many holds were released.
	Voided uint64
	// How many settlements were given up.
	Lost uint64
}

func (m *Ledgered) read(fields []byte) bool {
	*m = Ledgered{}
	var seen uint32
	for len(fields) > 0 {
		tag, bytes, rest, ok := next(fields)
		if !ok {
			return false
		}
		bit := once(tag, 0x7e)
		if seen&bit != 0 {
			return false
		}
		seen |= bit
		fields = rest
		switch tag {
		case critical | 1:
			m.Wakes, ok = true, len(bytes) == 0
		case critical | 2:
			m.WakeMS, ok = integer(bytes)
		case 3:
			m.Waiting, ok = integer(bytes)
		case 4:
			m.Captured, ok = integer(bytes)
		case 5:
			m.Voided, ok = integer(bytes)
		case 6:
			m.Lost, ok = integer(bytes)
		default:
			ok = tag < critical
		}
		if !ok {
			return false
		}
	}
	return true
}

// Responded: What a response has said so far.
type Responded struct {
	// The next piece must be read; otherwise none.
	Reads bool
	// For `response` of `Ended`.
	End uint64
}

func (m *Responded) read(fields []byte) bool {
	*m = Responded{}
	var seen uint32
	for len(fields) > 0 {
		tag, bytes, rest, ok := next(fields)
		if !ok {
			return false
		}
		bit := once(tag, 0x6)
		if seen&bit != 0 {
			return false
		}
		seen |= bit
		fields = rest
		switch tag {
		case critical | 1:
			m.Reads, ok = true, len(bytes) == 0
		case critical | 2:
			m.End, ok = integer(bytes)
		default:
			ok = tag < critical
		}
		if !ok {
			return false
		}
	}
	return true
}

// VisibleNames: The names that the token may pass, in their order.
type VisibleNames struct {
	// The names, one on each line.
	Names string
}

func (m *VisibleNames) read(fields []byte) bool {
	*m = VisibleNames{}
	var seen uint32
	for len(fields) > 0 {
		tag, bytes, rest, ok := next(fields)
		if !ok {
			return false
		}
		bit := once(tag, 0x2)
		if seen&bit != 0 {
			return false
		}
		seen |= bit
		fields = rest
		switch tag {
		case critical | 1:
			m.Names = string(bytes)
		default:
			ok = tag < critical
		}
		if !ok {
			return false
		}
	}
	return true
}

// Diagnostic: An error of a configuration.
type Diagnostic struct {
	// Line, from 1.
	Line uint64
	// Column in characters, from 1.
	Column uint64
	// The message: lower case, no final period, without the position.
	Message string
}

func (m *Diagnostic) read(fields []byte) bool {
	*m = Diagnostic{}
	var seen uint32
	for len(fields) > 0 {
		tag, bytes, rest, ok := next(fields)
		if !ok {
			return false
		}
		bit := once(tag, 0xe)
		if seen&bit != 0 {
			return false
		}
		seen |= bit
		fields = rest
		switch tag {
		case 1:
			m.Line, ok = integer(bytes)
		case 2:
			m.Column, ok = integer(bytes)
		case 3:
			m.Message = string(bytes)
		default:
			ok = tag < critical
		}
		if !ok {
			return false
		}
	}
	return true
}

// Token: A verified token.
type Token struct {
	// Its kind: an `OrbgateTokenKind`.
	Kind uint64
	// Its scopes, separated by single spaces.
	Scopes string
	// The issuer.
	Issuer string
	// The subject (`sub`); empty if the token doesn't state it.
	Subject string
	// The client that the token was issued to; empty if the token doesn't state it.
	Client string
	// The party that acts for the subject (`act`); empty if the token doesn't state it.
	Actor string
	// The token's own id (`jti`); empty if the token doesn't state it.
	ID string
	// An id that reveals nothing about the token: 16 hexadecimal digits.
	Fingerprint string
	// When the token expires: in milliseconds since 1970.
	ExpiresMS uint64
}

func (m *Token) read(fields []byte) bool {
	old := *m
	*m = Token{}
	var seen uint32
	for len(fields) > 0 {
		tag, bytes, rest, ok := next(fields)
		if !ok {
			return false
		}
		bit := once(tag, 0x3fe)
		if seen&bit != 0 {
			return false
		}
		seen |= bit
		fields = rest
		switch tag {
		case 1:
			m.Kind, ok = integer(bytes)
		case 2:
			m.Scopes = kept(old.Scopes, bytes)
		case 3:
			m.Issuer = kept(old.Issuer, bytes)
		case 4:
			m.Subject = string(bytes)
		case 5:
			m.Client = kept(old.Client, bytes)
		case 6:
			m.Actor = string(bytes)
		case 7:
			m.ID = string(bytes)
		case 8:
			m.Fingerprint = string(bytes)
		case 9:
			m.ExpiresMS, ok = integer(bytes)
		default:
			ok = tag < critical
		}
		if !ok {
			return false
		}
	}
	return true
}

// CallHeader: A header line of a call.
type CallHeader struct {
	// Its name.
	Name string
	// Its value.
	Value string
}

func (m *CallHeader) read(fields []byte) bool {
	*m = CallHeader{}
	var seen uint32
	for len(fields) > 0 {
		tag, bytes, rest, ok := next(fields)
		if !ok {
			return false
		}
		bit := once(tag, 0x6)
		if seen&bit != 0 {
			return false
		}
		seen |= bit
		fields = rest
		switch tag {
		case critical | 1:
			m.Name = string(bytes)
		case critical | 2:
			m.Value = string(bytes)
		default:
			ok = tag < critical
		}
		if !ok {
			return false
		}
	}
	return true
}

// SecretSource: Where a secret is. A configuration never contains the secret.
type SecretSource struct {
	// An `ORBGATE_SECRET_*` number.
	Kind uint64
	// The path of the file, or the name of the variable.
	Name string
}

func (m *SecretSource) read(fields []byte) bool {
	*m = SecretSource{}
	var seen uint32
	for len(fields) > 0 {
		tag, bytes, rest, ok := next(fields)
		if !ok {
			return false
		}
		bit := once(tag, 0x6)
		if seen&bit != 0 {
			return false
		}
		seen |= bit
		fields = rest
		switch tag {
		case critical | 1:
			m.Kind, ok = integer(bytes)
		case critical | 2:
			m.Name = string(bytes)
		default:
			ok = tag < critical
		}
		if !ok {
			return false
		}
	}
	return true
}

// IssuerStatus: The status of one issuer's keys.
type IssuerStatus struct {
	// The issuer.
	Issuer string
	// The number of usable keys. At 0, every token is rejected unless `opaque` is true.
	KeyCount uint64
	// When the keys were fetched, on the monotonic clock; 0 if there aren't any.
	FetchedMS uint64
	// Why the last attempt failed; empty if it succeeded.
	Failure string
	// The keys that were left out, with the reasons: one line for each.
	Warnings string
	// The issuer's tokens are opaque: `failure` is that of its introspection endpoint.
	Opaque bool
}

func (m *IssuerStatus) read(fields []byte) bool {
	*m = IssuerStatus{}
	var seen uint32
	for len(fields) > 0 {
		tag, bytes, rest, ok := next(fields)
		if !ok {
			return false
		}
		bit := once(tag, 0x7e)
		if seen&bit != 0 {
			return false
		}
		seen |= bit
		fields = rest
		switch tag {
		case 1:
			m.Issuer = string(bytes)
		case 2:
			m.KeyCount, ok = integer(bytes)
		case 3:
			m.FetchedMS, ok = integer(bytes)
		case 4:
			m.Failure = string(bytes)
		case 5:
			m.Warnings = string(bytes)
		case 6:
			m.Opaque, ok = true, len(bytes) == 0
		default:
			ok = tag < critical
		}
		if !ok {
			return false
		}
	}
	return true
}

// RouteDifference: A route that only the service or only the policy has.
type RouteDifference struct {
	// An `ORBGATE_DIFFERENCE_*` number.
	Kind uint64
	// The route, for example `GET /users/export`.
	Route string
	// The policy's route that decides an undeclared one; empty if it is denied.
	DecidedAs string
}

func (m *RouteDifference) read(fields []byte) bool {
	*m = RouteDifference{}
	var seen uint32
	for len(fields) > 0 {
		tag, bytes, rest, ok := next(fields)
		if !ok {
			return false
		}
		bit := once(tag, 0xe)
		if seen&bit != 0 {
			return false
		}
		seen |= bit
		fields = rest
		switch tag {
		case critical | 1:
			m.Kind, ok = integer(bytes)
		case critical | 2:
			m.Route = string(bytes)
		case 3:
			m.DecidedAs = string(bytes)
		default:
			ok = tag < critical
		}
		if !ok {
			return false
		}
	}
	return true
}
