package steps

// Made of crates/orbgate-generate/shapes.txt by `cargo xtask codes`; not to be edited.

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
	KindLedgerAt         = 99
)

type Sources struct {
	Tokens string
}

func (m *Sources) Append(to []byte) []byte {
	w, start := begin(to, 1)
	w.text(1, m.Tokens)
	return end(w.to, start)
}

type Make struct {
	Tokens               string
	Flat403              bool
	IgnoreMethodOverride bool
	SignaturesOutside    bool
	NoStaleKeys          bool
	Introspection        bool
	Challenge            uint64
	Templates            uint64
	CorsPreflight        uint64
	Realm                string
	ResourceMetadata     string
	TTLMS                uint64
	TTLMinMS             uint64
	TTLMaxMS             uint64
	AheadPercent         uint64
	MaxStaleMS           uint64
	CooldownMS           uint64
	Burst                uint64
	RetryMS              uint64
	TimeoutMS            uint64
	PublicRoutes         []string
	Secrets              []Secret
	Mcp                  string
	McpInitialScopes     string
	McpMostBytes         uint64
	McpDenyLegacy        bool
	Metadata             string
	McpOrigins           []string
	McpChargeSessions    bool
	Proofs               bool
}

func (m *Make) Append(to []byte) []byte {
	w, start := begin(to, 2)
	w.text(1, m.Tokens)
	w.flag(2, m.Flat403)
	w.flag(3, m.IgnoreMethodOverride)
	w.flag(4, m.SignaturesOutside)
	w.flag(5, m.NoStaleKeys)
	w.flag(6, m.Introspection)
	w.integer(7, m.Challenge)
	w.integer(8, m.Templates)
	w.integer(9, m.CorsPreflight)
	w.text(10, m.Realm)
	w.text(11, m.ResourceMetadata)
	w.integer(12, m.TTLMS)
	w.integer(13, m.TTLMinMS)
	w.integer(14, m.TTLMaxMS)
	w.integer(15, m.AheadPercent)
	w.integer(16, m.MaxStaleMS)
	w.integer(17, m.CooldownMS)
	w.integer(18, m.Burst)
	w.integer(19, m.RetryMS)
	w.integer(20, m.TimeoutMS)
	w.texts(21, m.PublicRoutes)
	putParts(&w, 22, m.Secrets)
	w.text(23, m.Mcp)
	w.text(24, m.McpInitialScopes)
	w.integer(25, m.McpMostBytes)
	w.flag(26, m.McpDenyLegacy)
	w.text(27, m.Metadata)
	w.texts(28, m.McpOrigins)
	w.flag(29, m.McpChargeSessions)
	w.flag(30, m.Proofs)
	return end(w.to, start)
}

type Ask struct {
	Method                      string
	Target                      string
	Authorization               []string
	HeaderNames                 []string
	Upgrade                     []string
	Origin                      []string
	AccessControlRequestMethod  []string
	Matched                     uint64
	PathTemplate                string
	AllowBonusOrbs              bool
	WithAudit                   bool
	HoldsThread                 bool
	UnixMS                      uint64
	MonotonicMS                 uint64
	ReadsBonusOrbs              bool
	Dpop                        []string
	Certificate                 string
	Repeats                     bool
	Charges                     bool
	HasAmount                   bool
	Amount                      uint64
	Unpaid                      uint64
	RetryAfterMS                uint64
	AmountFailed                bool
	Keeps                       bool
	Again                       bool
	Hold                        string
	AccessControlRequestHeaders []string
}

func (m *Ask) Append(to []byte) []byte {
	w, start := begin(to, 3)
	w.text(1, m.Method)
	w.text(2, m.Target)
	w.texts(3, m.Authorization)
	w.texts(4, m.HeaderNames)
	w.texts(5, m.Upgrade)
	w.texts(6, m.Origin)
	w.texts(7, m.AccessControlRequestMethod)
	w.integer(8, m.Matched)
	w.text(9, m.PathTemplate)
	w.flag(10, m.AllowBonusOrbs)
	w.flag(11, m.WithAudit)
	w.flag(12, m.HoldsThread)
	w.integer(13, m.UnixMS)
	w.integer(14, m.MonotonicMS)
	w.flag(15, m.ReadsBonusOrbs)
	w.texts(16, m.Dpop)
	w.text(17, m.Certificate)
	w.flag(18, m.Repeats)
	w.flag(20, m.Charges)
	w.flag(21, m.HasAmount)
	w.integer(22, m.Amount)
	w.integer(23, m.Unpaid)
	w.integer(24, m.RetryAfterMS)
	w.flag(25, m.AmountFailed)
	w.flag(26, m.Keeps)
	w.flag(27, m.Again)
	w.text(28, m.Hold)
	w.texts(29, m.AccessControlRequestHeaders)
	return end(w.to, start)
}

type Resume struct {
	UnixMS      uint64
	MonotonicMS uint64
}

func (m *Resume) Append(to []byte) []byte {
	w, start := begin(to, 4)
	w.integer(1, m.UnixMS)
	w.integer(2, m.MonotonicMS)
	return end(w.to, start)
}

type Checked struct {
	IsRight     bool
	TokenHash   uint64
	UnixMS      uint64
	MonotonicMS uint64
}

func (m *Checked) Append(to []byte) []byte {
	w, start := begin(to, 5)
	w.flag(1, m.IsRight)
	w.integer(2, m.TokenHash)
	w.integer(3, m.UnixMS)
	w.integer(4, m.MonotonicMS)
	return end(w.to, start)
}

type IsOver struct {
	MonotonicMS uint64
}

func (m *IsOver) Append(to []byte) []byte {
	w, start := begin(to, 6)
	w.integer(1, m.MonotonicMS)
	return end(w.to, start)
}

type NextCall struct {
	MonotonicMS uint64
}

func (m *NextCall) Append(to []byte) []byte {
	w, start := begin(to, 7)
	w.integer(1, m.MonotonicMS)
	return end(w.to, start)
}

type Called struct {
	Attempt     uint64
	Failure     uint64
	Status      uint64
	Headers     []Header
	Body        string
	MonotonicMS uint64
}

func (m *Called) Append(to []byte) []byte {
	w, start := begin(to, 8)
	w.integer(1, m.Attempt)
	w.integer(2, m.Failure)
	w.integer(3, m.Status)
	putParts(&w, 4, m.Headers)
	w.text(5, m.Body)
	w.integer(6, m.MonotonicMS)
	return end(w.to, start)
}

type Warm struct {
	MonotonicMS uint64
}

func (m *Warm) Append(to []byte) []byte {
	w, start := begin(to, 9)
	w.integer(1, m.MonotonicMS)
	return end(w.to, start)
}

type Revoke struct {
	Issuer string
	Kid    string
}

func (m *Revoke) Append(to []byte) []byte {
	w, start := begin(to, 10)
	w.text(1, m.Issuer)
	w.text(2, m.Kid)
	return end(w.to, start)
}

type Forget struct {
	Issuer string
}

func (m *Forget) Append(to []byte) []byte {
	w, start := begin(to, 11)
	w.text(1, m.Issuer)
	return end(w.to, start)
}

type ReadSecrets struct {
	Secrets []Secret
}

func (m *ReadSecrets) Append(to []byte) []byte {
	w, start := begin(to, 12)
	putParts(&w, 1, m.Secrets)
	return end(w.to, start)
}

type Status struct{}

func (m *Status) Append(to []byte) []byte {
	w, start := begin(to, 13)
	return end(w.to, start)
}

type CheckEngine struct{}

func (m *CheckEngine) Append(to []byte) []byte {
	w, start := begin(to, 14)
	return end(w.to, start)
}

type CheckRoutes struct {
	Routes    []ServiceRoute
	Templates uint64
}

func (m *CheckRoutes) Append(to []byte) []byte {
	w, start := begin(to, 15)
	putParts(&w, 1, m.Routes)
	w.integer(2, m.Templates)
	return end(w.to, start)
}

type Drop struct{}

func (m *Drop) Append(to []byte) []byte {
	w, start := begin(to, 16)
	return end(w.to, start)
}

type Body struct {
	Body       string
	TooLarge   bool
	Headers    []Header
	UnixMS     uint64
	Busy       bool
	Unreadable bool
}

func (m *Body) Append(to []byte) []byte {
	w, start := begin(to, 17)
	w.text(1, m.Body)
	w.flag(2, m.TooLarge)
	putParts(&w, 3, m.Headers)
	w.integer(4, m.UnixMS)
	w.flag(5, m.Busy)
	w.flag(6, m.Unreadable)
	return end(w.to, start)
}

type Reload struct {
	Policy         string
	Failure        string
	RequireSeal    bool
	RefuseWider    bool
	Secrets        []Secret
	IntervalMS     uint64
	IsTold         bool
	MonotonicMS    uint64
	File           string
	SecretsFailure string
	HasLedger      bool
	Amounts        []string
}

func (m *Reload) Append(to []byte) []byte {
	w, start := begin(to, 24)
	w.text(1, m.Policy)
	w.text(2, m.Failure)
	w.flag(3, m.RequireSeal)
	w.flag(4, m.RefuseWider)
	putParts(&w, 5, m.Secrets)
	w.integer(6, m.IntervalMS)
	w.flag(7, m.IsTold)
	w.integer(8, m.MonotonicMS)
	w.text(9, m.File)
	w.text(10, m.SecretsFailure)
	w.flag(11, m.HasLedger)
	w.texts(12, m.Amounts)
	return end(w.to, start)
}

type UseLedger struct {
	CapturesCancelled     bool
	TTLMS                 uint64
	TimeoutMS             uint64
	Queue                 uint64
	VoidsCancelled        bool
	CapturesToolErrors    bool
	VoidsToolErrors       bool
	CapturesInputRequired bool
	VoidsInputRequired    bool
	CapturesBroken        bool
	VoidsBroken           bool
	Ceiling               uint64
}

func (m *UseLedger) Append(to []byte) []byte {
	w, start := begin(to, 30)
	w.flag(1, m.CapturesCancelled)
	w.integer(2, m.TTLMS)
	w.integer(3, m.TimeoutMS)
	w.integer(4, m.Queue)
	w.flag(5, m.VoidsCancelled)
	w.flag(6, m.CapturesToolErrors)
	w.flag(7, m.VoidsToolErrors)
	w.flag(8, m.CapturesInputRequired)
	w.flag(9, m.VoidsInputRequired)
	w.flag(10, m.CapturesBroken)
	w.flag(11, m.VoidsBroken)
	w.integer(12, m.Ceiling)
	return end(w.to, start)
}

type Hold struct {
	ID          string
	Account     string
	Amount      uint64
	Bonus       bool
	Note        string
	MonotonicMS uint64
}

func (m *Hold) Append(to []byte) []byte {
	w, start := begin(to, 31)
	w.text(1, m.ID)
	w.text(2, m.Account)
	w.integer(3, m.Amount)
	w.flag(4, m.Bonus)
	w.text(5, m.Note)
	w.integer(6, m.MonotonicMS)
	return end(w.to, start)
}

type Held struct {
	ID          string
	Status      uint64
	Body        string
	UnixMS      uint64
	MonotonicMS uint64
}

func (m *Held) Append(to []byte) []byte {
	w, start := begin(to, 32)
	w.text(1, m.ID)
	w.integer(2, m.Status)
	w.text(3, m.Body)
	w.integer(4, m.UnixMS)
	w.integer(5, m.MonotonicMS)
	return end(w.to, start)
}

type Waited struct {
	ID          string
	MonotonicMS uint64
}

func (m *Waited) Append(to []byte) []byte {
	w, start := begin(to, 33)
	w.text(1, m.ID)
	w.integer(2, m.MonotonicMS)
	return end(w.to, start)
}

type Ended struct {
	ID          string
	Cancelled   bool
	Status      uint64
	IsStated    bool
	Stated      uint64
	MonotonicMS uint64
	NeverRan    bool
	Response    uint64
	Broken      bool
}

func (m *Ended) Append(to []byte) []byte {
	w, start := begin(to, 34)
	w.text(1, m.ID)
	w.flag(2, m.Cancelled)
	w.integer(3, m.Status)
	w.flag(4, m.IsStated)
	w.integer(5, m.Stated)
	w.integer(6, m.MonotonicMS)
	w.flag(7, m.NeverRan)
	w.integer(8, m.Response)
	w.flag(9, m.Broken)
	return end(w.to, start)
}

type NextLedgerCall struct {
	MonotonicMS uint64
}

func (m *NextLedgerCall) Append(to []byte) []byte {
	w, start := begin(to, 35)
	w.integer(1, m.MonotonicMS)
	return end(w.to, start)
}

type LedgerCalled struct {
	Call        uint64
	Status      uint64
	Body        string
	MonotonicMS uint64
}

func (m *LedgerCalled) Append(to []byte) []byte {
	w, start := begin(to, 36)
	w.integer(1, m.Call)
	w.integer(2, m.Status)
	w.text(3, m.Body)
	w.integer(4, m.MonotonicMS)
	return end(w.to, start)
}

type LedgerReplied struct {
	URL     string
	Status  uint64
	Body    string
	Failure string
}

func (m *LedgerReplied) Append(to []byte) []byte {
	w, start := begin(to, 45)
	w.text(1, m.URL)
	w.integer(2, m.Status)
	w.text(3, m.Body)
	w.text(4, m.Failure)
	return end(w.to, start)
}

type CheckLedger struct {
	URL    string
	Secret string
}

func (m *CheckLedger) Append(to []byte) []byte {
	w, start := begin(to, 46)
	w.text(1, m.URL)
	w.text(2, m.Secret)
	return end(w.to, start)
}

type CheckAmounts struct {
	Functions []string
}

func (m *CheckAmounts) Append(to []byte) []byte {
	w, start := begin(to, 37)
	w.texts(1, m.Functions)
	return end(w.to, start)
}

type ReadResponse struct {
	McpID      string
	McpLegacy  bool
	McpSession bool
}

func (m *ReadResponse) Append(to []byte) []byte {
	w, start := begin(to, 38)
	w.text(1, m.McpID)
	w.flag(2, m.McpLegacy)
	w.flag(3, m.McpSession)
	return end(w.to, start)
}

type ResponseBegins struct {
	Headers []Header
}

func (m *ResponseBegins) Append(to []byte) []byte {
	w, start := begin(to, 39)
	putParts(&w, 1, m.Headers)
	return end(w.to, start)
}

type ResponsePiece struct {
	Piece string
}

func (m *ResponsePiece) Append(to []byte) []byte {
	w, start := begin(to, 40)
	w.text(1, m.Piece)
	return end(w.to, start)
}

type Visible struct {
	Kind   uint64
	Scopes string
	Method string
	Names  []string
}

func (m *Visible) Append(to []byte) []byte {
	w, start := begin(to, 44)
	w.integer(1, m.Kind)
	w.text(2, m.Scopes)
	w.text(3, m.Method)
	w.texts(4, m.Names)
	return end(w.to, start)
}

type Secret struct {
	Value *string
}

func (m *Secret) put(to []byte) []byte {
	w := writer{to}
	w.optional(1, m.Value)
	return w.to
}

type Header struct {
	Name  string
	Value string
}

func (m *Header) put(to []byte) []byte {
	w := writer{to}
	w.text(1, m.Name)
	w.text(2, m.Value)
	return w.to
}

type ServiceRoute struct {
	Method       string
	PathTemplate string
}

func (m *ServiceRoute) put(to []byte) []byte {
	w := writer{to}
	w.text(1, m.Method)
	w.text(2, m.PathTemplate)
	return w.to
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
	LedgerAt
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
	case number == KindLedgerAt:
		ok = r.LedgerAt.read(fields)
	default:
		ok = false
	}
	if !ok {
		*r = Reply{}
	}
	return ok
}

type Done struct {
	Notices string
	Levels  string
}

func (m *Done) read(fields []byte) bool {
	*m = Done{}
	r := newReader(fields)
	for r.pass() {
		r.text(1, &m.Notices)
		r.text(2, &m.Levels)
	}
	return r.isRight()
}

type Failed struct {
	Status      uint64
	Message     string
	Diagnostics []Diagnostic
}

func (m *Failed) read(fields []byte) bool {
	*m = Failed{}
	r := newReader(fields)
	for r.pass() {
		r.integer(critical|1, &m.Status)
		r.text(2, &m.Message)
		readParts(&r, 3, &m.Diagnostics)
	}
	return r.isRight()
}

type Answer struct {
	Packed          uint64
	HTTPStatus      uint64
	Preflight       bool
	WWWAuthenticate *string
	Allow           *string
	Refused         string
	Misrouted       *string
	PublicTemplate  string
	Audit           *string
	HasToken        bool
	Token           Token
	MayCall         bool
	Body            []byte
	Headers         []CallHeader
	RetryAfter      uint64
}

func (m *Answer) read(fields []byte) bool {
	*m = Answer{Token: m.Token}
	r := newReader(fields)
	for r.pass() {
		r.integer(critical|1, &m.Packed)
		r.integer(critical|2, &m.HTTPStatus)
		r.flag(critical|3, &m.Preflight)
		r.optional(4, &m.WWWAuthenticate)
		r.optional(5, &m.Allow)
		r.text(6, &m.Refused)
		r.optional(7, &m.Misrouted)
		r.text(8, &m.PublicTemplate)
		r.optional(9, &m.Audit)
		r.part(10, &m.HasToken, &m.Token)
		r.flag(11, &m.MayCall)
		r.blob(critical|12, &m.Body)
		readParts(&r, 13, &m.Headers)
		r.integer(14, &m.RetryAfter)
	}
	if !m.HasToken {
		m.Token = Token{}
	}
	return r.isRight()
}

type Wait struct {
	UntilMS uint64
	MayCall bool
}

func (m *Wait) read(fields []byte) bool {
	*m = Wait{}
	r := newReader(fields)
	for r.pass() {
		r.integer(critical|1, &m.UntilMS)
		r.flag(2, &m.MayCall)
	}
	return r.isRight()
}

type CheckSignature struct {
	Algorithm string
	Key       string
	Token     []byte
	Signed    uint64
	Signature []byte
	MayCall   bool
}

func (m *CheckSignature) read(fields []byte) bool {
	old := *m
	*m = CheckSignature{Token: m.Token[:0], Signature: m.Signature[:0]}
	r := newReader(fields)
	for r.pass() {
		r.kept(critical|1, &m.Algorithm, old.Algorithm)
		r.kept(critical|2, &m.Key, old.Key)
		r.blob(critical|3, &m.Token)
		r.integer(critical|4, &m.Signed)
		r.blob(critical|5, &m.Signature)
		r.flag(6, &m.MayCall)
	}
	return r.isRight()
}

type Call struct {
	Attempt   uint64
	Method    string
	URL       string
	Headers   []CallHeader
	Body      []byte
	TimeoutMS uint64
	MaxBytes  uint64
}

func (m *Call) read(fields []byte) bool {
	*m = Call{}
	r := newReader(fields)
	for r.pass() {
		r.integer(critical|1, &m.Attempt)
		r.text(critical|2, &m.Method)
		r.text(critical|3, &m.URL)
		readParts(&r, critical|4, &m.Headers)
		r.blob(critical|5, &m.Body)
		r.integer(critical|6, &m.TimeoutMS)
		r.integer(critical|7, &m.MaxBytes)
	}
	return r.isRight()
}

type Over struct {
	IsOver bool
}

func (m *Over) read(fields []byte) bool {
	*m = Over{}
	r := newReader(fields)
	for r.pass() {
		r.flag(critical|1, &m.IsOver)
	}
	return r.isRight()
}

type SecretSources struct {
	Sources []SecretSource
}

func (m *SecretSources) read(fields []byte) bool {
	*m = SecretSources{}
	r := newReader(fields)
	for r.pass() {
		readParts(&r, critical|1, &m.Sources)
	}
	return r.isRight()
}

type KeyStatus struct {
	Issuers []IssuerStatus
}

func (m *KeyStatus) read(fields []byte) bool {
	*m = KeyStatus{}
	r := newReader(fields)
	for r.pass() {
		readParts(&r, 1, &m.Issuers)
	}
	return r.isRight()
}

type RouteDifferences struct {
	Differences []RouteDifference
}

func (m *RouteDifferences) read(fields []byte) bool {
	*m = RouteDifferences{}
	r := newReader(fields)
	for r.pass() {
		readParts(&r, critical|1, &m.Differences)
	}
	return r.isRight()
}

type ReadBody struct {
	MostBytes uint64
	MayCall   bool
	MostHeld  uint64
}

func (m *ReadBody) read(fields []byte) bool {
	*m = ReadBody{}
	r := newReader(fields)
	for r.pass() {
		r.integer(critical|1, &m.MostBytes)
		r.flag(2, &m.MayCall)
		r.integer(critical|3, &m.MostHeld)
	}
	return r.isRight()
}

type Loaded struct {
	IsLoaded    bool
	Result      string
	Message     string
	Warning     string
	Status      uint64
	Diagnostics []Diagnostic
	PauseMS     uint64
	Reason      string
}

func (m *Loaded) read(fields []byte) bool {
	*m = Loaded{}
	r := newReader(fields)
	for r.pass() {
		r.flag(critical|1, &m.IsLoaded)
		r.text(2, &m.Result)
		r.text(3, &m.Message)
		r.text(4, &m.Warning)
		r.integer(5, &m.Status)
		readParts(&r, 6, &m.Diagnostics)
		r.integer(7, &m.PauseMS)
		r.text(8, &m.Reason)
	}
	return r.isRight()
}

type Charge struct {
	Account    []byte
	Amount     uint64
	Bonus      bool
	Note       []byte
	McpID      []byte
	McpLegacy  bool
	Audit      *string
	HoldID     string
	McpSession bool
}

func (m *Charge) read(fields []byte) bool {
	*m = Charge{Account: m.Account[:0], Note: m.Note[:0], McpID: m.McpID[:0]}
	r := newReader(fields)
	for r.pass() {
		r.blob(critical|1, &m.Account)
		r.integer(critical|2, &m.Amount)
		r.flag(critical|3, &m.Bonus)
		r.blob(critical|4, &m.Note)
		r.blob(critical|5, &m.McpID)
		r.flag(critical|6, &m.McpLegacy)
		r.optional(7, &m.Audit)
		r.text(8, &m.HoldID)
		r.flag(critical|9, &m.McpSession)
	}
	return r.isRight()
}

type HoldStep struct {
	MayRun       bool
	Path         string
	Body         []byte
	TimeoutMS    uint64
	UntilMS      uint64
	Unpaid       uint64
	RetryAfterMS uint64
	Result       string
}

func (m *HoldStep) read(fields []byte) bool {
	*m = HoldStep{Body: m.Body[:0]}
	r := newReader(fields)
	for r.pass() {
		r.flag(critical|1, &m.MayRun)
		r.text(critical|2, &m.Path)
		r.blob(critical|3, &m.Body)
		r.integer(critical|4, &m.TimeoutMS)
		r.integer(critical|5, &m.UntilMS)
		r.integer(6, &m.Unpaid)
		r.integer(7, &m.RetryAfterMS)
		r.text(8, &m.Result)
	}
	return r.isRight()
}

type LedgerCall struct {
	Call      uint64
	Path      string
	Body      []byte
	TimeoutMS uint64
}

func (m *LedgerCall) read(fields []byte) bool {
	*m = LedgerCall{Body: m.Body[:0]}
	r := newReader(fields)
	for r.pass() {
		r.integer(critical|1, &m.Call)
		r.text(critical|2, &m.Path)
		r.blob(critical|3, &m.Body)
		r.integer(critical|4, &m.TimeoutMS)
	}
	return r.isRight()
}

type Ledgered struct {
	Wakes    bool
	WakeMS   uint64
	Waiting  uint64
	Captured uint64
	Voided   uint64
	Lost     uint64
	Over     uint64
	Notice   string
}

func (m *Ledgered) read(fields []byte) bool {
	*m = Ledgered{}
	r := newReader(fields)
	for r.pass() {
		r.flag(critical|1, &m.Wakes)
		r.integer(critical|2, &m.WakeMS)
		r.integer(3, &m.Waiting)
		r.integer(4, &m.Captured)
		r.integer(5, &m.Voided)
		r.integer(6, &m.Lost)
		r.integer(7, &m.Over)
		r.text(8, &m.Notice)
	}
	return r.isRight()
}

type Responded struct {
	Reads bool
	End   uint64
}

func (m *Responded) read(fields []byte) bool {
	*m = Responded{}
	r := newReader(fields)
	for r.pass() {
		r.flag(critical|1, &m.Reads)
		r.integer(critical|2, &m.End)
	}
	return r.isRight()
}

type VisibleNames struct {
	Names string
}

func (m *VisibleNames) read(fields []byte) bool {
	*m = VisibleNames{}
	r := newReader(fields)
	for r.pass() {
		r.text(critical|1, &m.Names)
	}
	return r.isRight()
}

type LedgerAt struct {
	Base      string
	Socket    string
	Secret    string
	MostBytes uint64
}

func (m *LedgerAt) read(fields []byte) bool {
	*m = LedgerAt{}
	r := newReader(fields)
	for r.pass() {
		r.text(critical|1, &m.Base)
		r.text(critical|2, &m.Socket)
		r.text(critical|3, &m.Secret)
		r.integer(critical|4, &m.MostBytes)
	}
	return r.isRight()
}

type Diagnostic struct {
	Line    uint64
	Column  uint64
	Message string
}

func (m *Diagnostic) read(fields []byte) bool {
	*m = Diagnostic{}
	r := newReader(fields)
	for r.pass() {
		r.integer(1, &m.Line)
		r.integer(2, &m.Column)
		r.text(3, &m.Message)
	}
	return r.isRight()
}

type Token struct {
	Kind        uint64
	Scopes      string
	Issuer      string
	Subject     string
	Client      string
	Actor       string
	ID          string
	Fingerprint string
	ExpiresMS   uint64
}

func (m *Token) read(fields []byte) bool {
	old := *m
	*m = Token{}
	r := newReader(fields)
	for r.pass() {
		r.integer(1, &m.Kind)
		r.kept(2, &m.Scopes, old.Scopes)
		r.kept(3, &m.Issuer, old.Issuer)
		r.text(4, &m.Subject)
		r.kept(5, &m.Client, old.Client)
		r.text(6, &m.Actor)
		r.text(7, &m.ID)
		r.text(8, &m.Fingerprint)
		r.integer(9, &m.ExpiresMS)
	}
	return r.isRight()
}

type CallHeader struct {
	Name  string
	Value string
}

func (m *CallHeader) read(fields []byte) bool {
	*m = CallHeader{}
	r := newReader(fields)
	for r.pass() {
		r.text(critical|1, &m.Name)
		r.text(critical|2, &m.Value)
	}
	return r.isRight()
}

type SecretSource struct {
	Kind uint64
	Name string
}

func (m *SecretSource) read(fields []byte) bool {
	*m = SecretSource{}
	r := newReader(fields)
	for r.pass() {
		r.integer(critical|1, &m.Kind)
		r.text(critical|2, &m.Name)
	}
	return r.isRight()
}

type IssuerStatus struct {
	Issuer    string
	KeyCount  uint64
	FetchedMS uint64
	Failure   string
	Warnings  string
	Opaque    bool
}

func (m *IssuerStatus) read(fields []byte) bool {
	*m = IssuerStatus{}
	r := newReader(fields)
	for r.pass() {
		r.text(1, &m.Issuer)
		r.integer(2, &m.KeyCount)
		r.integer(3, &m.FetchedMS)
		r.text(4, &m.Failure)
		r.text(5, &m.Warnings)
		r.flag(6, &m.Opaque)
	}
	return r.isRight()
}

type RouteDifference struct {
	Kind      uint64
	Route     string
	DecidedAs string
}

func (m *RouteDifference) read(fields []byte) bool {
	*m = RouteDifference{}
	r := newReader(fields)
	for r.pass() {
		r.integer(critical|1, &m.Kind)
		r.text(critical|2, &m.Route)
		r.text(3, &m.DecidedAs)
	}
	return r.isRight()
}
