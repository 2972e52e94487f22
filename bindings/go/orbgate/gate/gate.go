// Package gate protects a service. It takes a request as received, verifies its bearer token, decides, and
// responds.
//
//	protect, err := gate.New(gate.Config{Policy: orbgate.NewHandle(engine), Tokens: tokens})
//	…
//	http.ListenAndServe(":8080", protect.Mux(mux))
//
// The engine has the rules for verifying and deciding, which are the same in every language. This package fetches the
// issuers' keys with [net/http] and supplies the time. If the engine is WebAssembly, it also checks signatures with
// Go's crypto packages.
package gate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/orbgate/orbgate/bindings/go/orbgate"
	"github.com/orbgate/orbgate/bindings/go/orbgate/internal/steps"
	"github.com/orbgate/orbgate/bindings/go/orbgate/internal/terms"
)

// A Config configures a gate. Policy and Tokens are required.
type Config struct {
	// Policy holds the active policy. If you store another engine, it decides the next request.
	Policy *orbgate.Handle
	// Tokens is a token configuration in YAML, which states which tokens are accepted.
	Tokens string
	// Client fetches the issuers' keys, and asks about opaque tokens, with your proxies, roots and timeouts. It never
	// follows redirects. The default has the settings of [http.DefaultTransport].
	Client *http.Client
	// Template returns the template that a router outside the middleware has chosen, including any prefix; empty if the
	// router doesn't report one. A request is denied if another route of the policy would be the one that allows it, and
	// also if this function panics. Nil if no router is outside.
	Template func(*http.Request) string
	// Templates is that router's syntax for parameters.
	Templates Templates
	// BonusOrbs reports whether a request allows bonus orbs. By default, and if it panics, no request
	// does. It is called before the token is verified, so prefer BonusFromBody to read a body.
	BonusOrbs func(*http.Request) bool
	// BonusFromBody is the number of bytes that the middleware reads from the body of an allowed request to find
	// `"allowBonusOrbsUse": true`. The default is 0. The service still gets the whole body. A longer body counts as not
	// allowing bonus orbs.
	BonusFromBody int64
	// Public are routes that need no token, written as in a policy with the whole path, such as `GET /healthz`. If a path
	// matches both a public route and a route of the policy, [New] and [Gate.Reload] fail.
	Public []string
	// CorsPreflight allows CORS preflight requests without a token, if their route is declared. A handler gets one only if
	// its [http.ServeMux] pattern has the method OPTIONS. [Gate.Middleware] around another router lets them pass to any
	// handler, which must check [Call.Preflight].
	CorsPreflight bool
	// Ledger charges the calls of [Gate.Mux], [Gate.Middleware] and [Gate.ServeRouted]; [Gate.Flush] waits for it. [New] and [Gate.Reload] fail while a route
	// that consumes orbs has no amount. Nil if the service charges.
	Ledger *Ledger
	// MCP is an endpoint of the Model Context Protocol.
	MCP MCP
	// Resource is the https URL of the protected resource. The gate serves its metadata (RFC 9728) without a token at
	// /.well-known/oauth-protected-resource, and [MCP] challenges name it. It must be an audience of every issuer.
	Resource string
	// Challenge selects the WWW-Authenticate header of denials.
	Challenge Challenge
	// Flat403 denies every request with 403, so that callers can't distinguish an unknown route from a missing
	// scope.
	Flat403 bool
	// RefuseWider makes [Gate.Reload] and [Gate.Watch] reject a policy that allows more than the active one, or for fewer
	// orbs, and RequireSeal one without a seal.
	RefuseWider, RequireSeal bool
	// Debug logs why a call is denied, at slog's debug level: the answer of [orbgate.Engine.Explain] without the query, or only the
	// decision if a header or the query causes the denial. It costs time for each denial. Responses don't contain it.
	Debug bool
	// Logger logs failed fetches, and routers that disagree with the policy. The default is [slog.Default]. Logging never
	// affects a result.
	Logger *slog.Logger
	// Count increments a counter, such as orbgate_decisions_total: see [Label]. If it panics, the gate logs that once and
	// continues.
	Count func(counter string, labels ...Label)
	// Audit receives a JSON line for each decision. Requests wait for it. If it fails or panics, the gate logs that once,
	// counts the line in orbgate_audit_lost_total, and continues.
	Audit io.Writer
}

// Templates is a router's syntax for parameters in templates.
type Templates uint32

// The styles of templates.
const (
	// Braces are {id} and {id:[0-9]+}: net/http, chi, gorilla/mux.
	Braces Templates = steps.TemplatesBraces
	// Colons are :id: gin, echo, fiber.
	Colons Templates = steps.TemplatesColons
)

// A Challenge is the WWW-Authenticate header of denials.
type Challenge struct {
	// Full names the error and the missing scope, as RFC 6750 does.
	Full bool
	// None sends no header, and denies every request with 403.
	None bool
	// Realm and ResourceMetadata, an https URL, are parameters of a full challenge.
	Realm, ResourceMetadata string
}

// A Label belongs to a counter. orbgate_decisions_total has decision, reason and route; orbgate_tokens_refused_total
// has reason; orbgate_misrouted_total has route and matched; orbgate_policy_loads_total has result. Values are codes
// and templates, and never contain a path or any part of a token.
type Label struct{ Name, Value string }

// A Gate combines rules and keys. All methods, including Close, can be called from any goroutine at
// any time.
type Gate struct {
	config Config
	client *http.Client
	raw    steps.Gate
	keys   keyring
	orbs   *orbs
	start  time.Time
	// Cancelled by Close.
	background context.Context
	cancel     context.CancelFunc
	mutex      sync.Mutex
	// Closed and replaced whenever an attempt has ended.
	ended    chan struct{}
	fetching int
	closed   bool
	audit    sync.Mutex
	// Held while a policy's file is read and judged.
	loading sync.Mutex
	// Messages that were already logged.
	logged sync.Map
	// The bytes of bodies that no service has read yet.
	held atomic.Int64
}

// New makes a gate, and reads the secrets that opaque issuers need. If the configuration is invalid, the error is an
// [*orbgate.Error] with all errors and their locations. Keys are fetched when the first token arrives, or with
// [Gate.Warm].
func New(config Config) (*Gate, error) {
	if config.Policy == nil {
		return nil, errors.New("gate: there is no policy")
	}
	settings := steps.Make{
		Tokens: config.Tokens, Templates: uint64(config.Templates), Realm: config.Challenge.Realm, ResourceMetadata: config.Challenge.ResourceMetadata,
		PublicRoutes: config.Public, Flat403: config.Flat403, Introspection: true, Proofs: true, Metadata: config.Resource,
		Mcp: config.MCP.Path, McpInitialScopes: config.MCP.InitialScopes, McpMostBytes: uint64(config.MCP.MostBytes), McpDenyLegacy: config.MCP.DenyLegacy,
		McpOrigins: config.MCP.Origins, McpChargeSessions: config.MCP.ChargeSessions,
	}
	if config.CorsPreflight {
		settings.CorsPreflight = steps.CorsPreflightPass
	}
	switch {
	case config.Challenge.Full:
		settings.Challenge = steps.ChallengeFull
	case config.Challenge.None:
		settings.Challenge = steps.ChallengeNone
	}
	raw, err := steps.New(&settings)
	if err != nil {
		return nil, fmt.Errorf("gate: %w", err)
	}
	engine := config.Policy.Load()
	defer engine.Close()
	// Without a policy, every request is denied.
	stated := new(steps.Step)
	if err := raw.Ask(engine, &steps.CheckEngine{}, stated); err != nil && !errors.Is(err, orbgate.ErrClosed) {
		raw.Close()
		return nil, fmt.Errorf("gate: %w", err)
	}
	if config.Logger == nil {
		config.Logger = slog.Default()
	}
	config.Logger = slog.New(quiet{config.Logger.Handler()})
	g := &Gate{config: config, client: clientOf(config.Client), raw: raw, start: time.Now(), ended: make(chan struct{})}
	g.background, g.cancel = context.WithCancel(context.Background())
	if config.Ledger != nil {
		if g.orbs, err = newOrbs(g, *config.Ledger); err == nil {
			err = g.orbs.check(engine, stated)
		}
		if err != nil {
			_ = g.Close()
			return nil, fmt.Errorf("gate: %w", err)
		}
	}
	g.tell(stated.Done)
	g.startCalls()
	return g, nil
}

// FromFiles makes a gate from a policy file and a token configuration file. Options set the rest of the configuration,
// which otherwise has its defaults:
//
//	gate.FromFiles("policy.yaml", "tokens.yaml", func(config *gate.Config) { config.Public = []string{"GET /healthz"} })
func FromFiles(policy, tokens string, options ...func(*Config)) (*Gate, error) {
	engine, err := orbgate.FromFile(policy)
	if err != nil {
		return nil, fmt.Errorf("gate: %w", err)
	}
	defer engine.Close()
	text, err := steps.ReadRegular(tokens)
	if err != nil {
		return nil, fmt.Errorf("gate: cannot read `%s`: %w", tokens, err)
	}
	config := Config{Policy: orbgate.NewHandle(engine), Tokens: string(text)}
	for _, option := range options {
		option(&config)
	}
	made, err := New(config)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", tokens, err)
	}
	return made, nil
}

// Close ends the gate: it cancels running fetches, and denies every further request. Settlements that [Gate.Flush] hasn't waited for are
// lost.
func (g *Gate) Close() error {
	g.mutex.Lock()
	g.closed = true
	g.mutex.Unlock()
	g.cancel()
	for g.wait(context.Background(), time.Time{}, func() bool { return g.fetching == 0 }) != nil {
	}
	g.raw.Close()
	if g.orbs != nil {
		g.orbs.close()
	}
	return nil
}

// A Request is a request as received, for servers other than [net/http].
type Request struct {
	// Method and Target (path and query) are those of the request line, byte for byte.
	Method, Target string
	// Authorization contains every value of that header, one item for each header line.
	Authorization []string
	// DPoP contains every value of that header, one item for each header line.
	DPoP []string
	// Certificate is the one with which the client has authenticated its connection, in DER; empty if it has none.
	Certificate []byte
	// Upgrade, Origin, AccessControlRequestMethod and AccessControlRequestHeaders contain every value of those headers.
	Upgrade, Origin, AccessControlRequestMethod, AccessControlRequestHeaders []string
	// HeaderNames are the names of all headers, or at least those that contain `method`, in any letter case. A header can
	// override the method.
	HeaderNames []string
	// Routed states that a router is outside, and Template is the one that it has chosen; empty if the router
	// doesn't report it.
	Routed   bool
	Template string
	// AllowBonusOrbs states that the request allows bonus orbs.
	AllowBonusOrbs bool
	// ReadsBonusOrbs states that AllowBonusOrbs is what the request says. Otherwise `bonus_allowed` is null in [Config.Audit].
	ReadsBonusOrbs bool
	// What it says of its orbs, once its handler is about to run.
	charge *steps.Ask
	// Header contains the headers, or at least those whose names start with Content or Mcp. Only an MCP endpoint needs them.
	Header http.Header
	// Body reads the whole body, up to most bytes; a longer one is [ErrTooLarge]. The service must still get the same bytes.
	// Hold at most mostHeld bytes for all requests. It is called only for an MCP endpoint, when the token is valid. Without it,
	// such a request is denied.
	Body func(most, mostHeld int64) ([]byte, error)
}

// An Answer is a gate's result for a request. The zero Answer denies.
type Answer struct {
	// Decision is the engine's.
	Decision orbgate.Decision
	// cargo xtask codes: answer
	// The status of the response to a denied request; 0 for an allow.
	Status int
	// The request is allowed only as a preflight, so run only a handler of `OPTIONS`.
	Preflight bool
	// The `WWW-Authenticate` header of a denial.
	WWWAuthenticate string
	// The `Allow` header of a denial.
	Allow string
	// Why the token is rejected, such as `expired`, only for logs and counters.
	Refused string
	// The template of an allowed request that needs no token.
	PublicTemplate string
	// end of answer
	// Headers are more headers of the gate's response, RetryAfter the seconds of Retry-After, 0 if it has none, and Body its
	// body; nil if it has none. Of an allow, Headers are what [Answer.Writer] writes.
	Headers    [][2]string
	RetryAfter int
	Body       []byte
	// Token is the verified token; nil without a valid token, and on a public route.
	Token *Token
	// Err is why there is no result: the caller has disconnected, or the gate or the engine is closed. The
	// request is denied.
	Err error
	// The request that was decided.
	method, target string
	// What must be held, and what is.
	charge *steps.Charge
	held   *held
}

// IsAllow reports whether the request is allowed.
func (a Answer) IsAllow() bool { return a.Err == nil && a.Status == 0 && a.Decision.IsAllow() }

// A Token is a verified token.
type Token struct {
	// cargo xtask codes: token
	// Its kind.
	Kind orbgate.TokenKind
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
	// An id that reveals nothing about the token.
	Fingerprint string
	// When the token expires.
	Expires time.Time
	// end of token
}

// Ask decides a request. It waits for the network only if keys must be fetched first, and no longer than the context.
// A gate with a ledger denies it, because only [Gate.Mux], [Gate.Middleware] and [Gate.ServeRouted] can charge.
func (g *Gate) Ask(ctx context.Context, request Request) Answer {
	if g.orbs != nil {
		return g.seen(Answer{Status: http.StatusForbidden, Err: errOutside}, nil)
	}
	return g.seen(g.ask(ctx, request, nil))
}

// AllowsBonusOrbs reports whether a whole body is a JSON object that contains `"allowBonusOrbsUse": true` exactly once,
// for [Request.AllowBonusOrbs].
func (g *Gate) AllowsBonusOrbs(body []byte) bool { return g.raw.AllowsBonusOrbs(body) }

// The result and its step, before they are observed. With the step of an allow that consumes, its token isn't verified again.
func (g *Gate) ask(ctx context.Context, request Request, known *steps.Step) (Answer, *steps.Step) {
	engine := g.config.Policy.Load()
	defer func() { engine.Close() }()
	unixMS, monotonicMS := g.now()
	question := steps.Ask{
		Method: request.Method, Target: request.Target, Authorization: request.Authorization, HeaderNames: request.HeaderNames,
		Upgrade: request.Upgrade, Origin: request.Origin, AccessControlRequestMethod: request.AccessControlRequestMethod,
		AccessControlRequestHeaders: request.AccessControlRequestHeaders, Dpop: request.DPoP, Certificate: string(request.Certificate),
		AllowBonusOrbs: request.AllowBonusOrbs, ReadsBonusOrbs: request.ReadsBonusOrbs, WithAudit: g.config.Audit != nil,
		UnixMS: unixMS, MonotonicMS: monotonicMS,
		Keeps: g.orbs != nil || g.config.BonusFromBody > 0, Again: known != nil,
	}
	if request.Routed {
		question.Matched, question.PathTemplate = steps.MatchedTemplate, request.Template
		if request.Template == "" {
			question.Matched = steps.MatchedUnknown
		}
	}
	if of := request.charge; of != nil {
		question.Charges, question.HasAmount, question.Amount, question.AmountFailed = of.Charges, of.HasAmount, of.Amount, of.AmountFailed
		question.Unpaid, question.RetryAfterMS, question.Hold = of.Unpaid, of.RetryAfterMS, of.Hold
	}
	step := known
	if step == nil {
		step = spareSteps.Get().(*steps.Step)
	}
	err := g.raw.Ask(engine, &question, step)
	if err != nil || mayCall(step) {
		g.startCalls()
	}
	for {
		if err != nil {
			return Answer{Status: http.StatusForbidden, Err: err}, nil
		}
		switch step.Number {
		case steps.KindAnswer:
			if step.Answer.Misrouted != nil {
				// The route that the request matches is the one that allowed it.
				g.misrouted(engine.Decide(request.Method, request.Target, orbgate.NoToken()).About(), *step.Answer.Misrouted)
			}
			answer := answerOf(step)
			answer.method, answer.target = request.Method, request.Target
			// The policy allows a misrouted request, so there is nothing to explain.
			if step.Answer.Misrouted == nil {
				g.explain(engine, answer)
			}
			return answer, step
		case steps.KindCharge:
			charge := step.Charge
			return Answer{Status: http.StatusForbidden, charge: &charge}, step
		case steps.KindCheckSignature:
			isRight, hash := g.keys.verify(&step.CheckSignature)
			unixMS, monotonicMS = g.now()
			err = g.raw.Ask(engine, &steps.Checked{IsRight: isRight, TokenHash: hash, UnixMS: unixMS, MonotonicMS: monotonicMS}, step)
			if err != nil || mayCall(step) { // A wrong signature can mean a new key.
				g.startCalls()
			}
		case steps.KindReadBody:
			if step.ReadBody.MayCall {
				g.startCalls()
			}
			body := g.bodyOf(request, step.ReadBody)
			// The policy might have changed in the meantime.
			engine.Close()
			engine = g.config.Policy.Load()
			err = g.raw.Ask(engine, body, step)
		case steps.KindWait:
			until := g.start.Add(time.Duration(step.Wait.UntilMS) * time.Millisecond)
			isOver := func() bool {
				return g.raw.Ask(nil, &steps.IsOver{MonotonicMS: g.monotonicMS()}, step) != nil || step.Over.IsOver
			}
			if gone := g.wait(ctx, until, isOver); gone != nil {
				g.raw.Drop(step)
				return Answer{Status: http.StatusForbidden, Err: gone}, nil
			}
			// The policy might have changed in the meantime.
			engine.Close()
			engine = g.config.Policy.Load()
			unixMS, monotonicMS = g.now()
			err = g.raw.Ask(engine, &steps.Resume{UnixMS: unixMS, MonotonicMS: monotonicMS}, step)
			g.startCalls()
		default:
			// An answer to another question.
			g.raw.Drop(step)
			return Answer{Status: http.StatusForbidden, Err: orbgate.StatusPanic}, nil
		}
	}
}

// Steps that have been answered: one that is used again keeps the strings that answer after answer has.
var spareSteps = sync.Pool{New: func() any { return new(steps.Step) }}

func mayCall(step *steps.Step) bool {
	switch step.Number {
	case steps.KindAnswer:
		return step.Answer.MayCall
	case steps.KindCheckSignature:
		return step.CheckSignature.MayCall
	case steps.KindCharge:
		return false
	}
	return true
}

func answerOf(step *steps.Step) Answer {
	from := &step.Answer
	answer := Answer{
		Decision: step.Decision.(orbgate.Decision),
		// cargo xtask codes: answer values
		Status: int(from.HTTPStatus), Preflight: from.Preflight, WWWAuthenticate: or(from.WWWAuthenticate), Allow: or(from.Allow), Refused: from.Refused, PublicTemplate: from.PublicTemplate,
		// end of answer values
	}
	for _, header := range from.Headers {
		answer.Headers = append(answer.Headers, [2]string{header.Name, header.Value})
	}
	answer.RetryAfter, answer.Body = int(from.RetryAfter), from.Body
	if from.HasToken {
		answer.Token = tokenOf(&from.Token)
	}
	return answer
}

func tokenOf(from *steps.Token) *Token {
	return &Token{
		// cargo xtask codes: token values
		Kind: orbgate.TokenKind(from.Kind), Scopes: from.Scopes, Issuer: from.Issuer, Subject: from.Subject, Client: from.Client, Actor: from.Actor, ID: from.ID, Fingerprint: from.Fingerprint, Expires: time.UnixMilli(int64(from.ExpiresMS)),
		// end of token values
	}
}

// An absent string as an empty one.
func or(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

// Reports a result to the counters, the log and the audit.
func (g *Gate) seen(answer Answer, step *steps.Step) Answer {
	if g.config.Count != nil {
		decision := terms.EffectDeny
		if answer.IsAllow() {
			decision = terms.EffectAllow
		}
		g.count(terms.DecisionsTotal, Label{terms.LabelDecision, decision}, Label{terms.LabelReason, answer.Decision.Reason().String()},
			Label{terms.LabelRoute, answer.Decision.Route()})
		if answer.Refused != "" {
			g.count(terms.TokensRefusedTotal, Label{terms.LabelReason, answer.Refused})
		}
	}
	if step != nil {
		if step.Answer.Audit != nil {
			g.write(*step.Answer.Audit)
		}
		g.raw.Drop(step)
		spareSteps.Put(step)
	}
	return answer
}

func (g *Gate) write(line string) {
	err := g.guarded("Audit", func() error {
		g.audit.Lock()
		defer g.audit.Unlock()
		_, err := io.WriteString(g.config.Audit, line+"\n")
		return err
	})
	if err != nil {
		g.count(terms.AuditLostTotal)
	}
}

// Counts a request that the policy allows for one route, but that a router sent to another route, or to one that it
// doesn't report.
func (g *Gate) misrouted(route, matched string) {
	g.count(terms.MisroutedTotal, Label{terms.LabelRoute, route}, Label{terms.LabelMatched, matched})
	g.once("requests are denied: the router has chosen a route that the policy lacks, or none, or the path was rewritten before the gate", "route", route, "matched", matched)
}

func (g *Gate) count(counter string, labels ...Label) {
	if g.config.Count != nil {
		_ = g.guarded("Count", func() error {
			g.config.Count(counter, labels...)
			return nil
		})
	}
}

// Reload activates a new version of the policy from a file. It decides every later request. The file must end in the
// end marker, so that a half-written file is never used. If it doesn't, or if the file has errors or can't be read, the
// previous policy stays active, and the error is an [*orbgate.Error]. With [Config.RefuseWider], the previous policy also
// stays active if the new one allows more. The secrets for opaque tokens are read again; if one can't be read, all of
// them and the policy stay as they are. The log shows what changes for callers.
func (g *Gate) Reload(path string) error {
	_, err := g.look(path, 0, new(steps.Step))
	return err
}

// Watch follows a policy's file until the gate is closed: a goroutine reads it at this interval. A version becomes active,
// as with [Gate.Reload], an interval after its bytes were first read, if they haven't changed, or at once if it has a valid
// seal. Otherwise the previous policy stays active, and the log says why, once. After a version with an end marker or a seal, each version needs one.
func (g *Gate) Watch(path string, interval time.Duration) error {
	if interval < time.Millisecond {
		return errors.New("gate: the interval is shorter than a millisecond")
	}
	go func() {
		step := new(steps.Step)
		defer g.raw.Drop(step)
		for {
			// An error was logged. After one of the engine itself, the next look begins anew.
			pause, _ := g.look(path, interval, step)
			select {
			case <-g.background.Done():
				return
			case <-time.After(pause):
			}
		}
	}()
	return nil
}

// Reads a file, and does what the library says. Returns when to look again.
func (g *Gate) look(path string, interval time.Duration, step *steps.Step) (time.Duration, error) {
	g.loading.Lock()
	defer g.loading.Unlock()
	var active any
	if engine := g.config.Policy.Load(); engine != nil {
		defer engine.Close()
		active = engine
	}
	question := steps.Reload{File: path, RefuseWider: g.config.RefuseWider, RequireSeal: g.config.RequireSeal, IntervalMS: uint64(interval.Milliseconds()), MonotonicMS: g.monotonicMS()}
	if g.orbs != nil {
		question.HasLedger, question.Amounts = true, g.orbs.functions()
		if err := g.orbs.readSecret(); err != nil {
			question.SecretsFailure = err.Error()
		}
	}
	step.Number = 0
	err := g.raw.Reload(active, &question, step)
	if err != nil && step.Number != steps.KindLoaded {
		if !errors.Is(err, orbgate.ErrClosed) {
			g.once("a policy's file isn't loaded as it should be", "path", path, "error", err)
		}
		return interval, fmt.Errorf("gate: %w", err)
	}
	loaded := &step.Loaded
	if loaded.IsLoaded {
		engine, err := orbgate.FromYAML(question.Policy)
		if err != nil {
			return interval, fmt.Errorf("gate: %w", err)
		}
		g.config.Policy.Store(engine)
		engine.Close()
		g.startCalls()
	}
	switch {
	case loaded.Message == "":
	case err != nil:
		g.config.Logger.Error(loaded.Message)
	default:
		g.config.Logger.Info(loaded.Message)
	}
	if loaded.Warning != "" {
		g.config.Logger.Warn(loaded.Warning)
	}
	if loaded.Result != "" {
		g.count(terms.PolicyLoadsTotal, Label{terms.LabelResult, loaded.Result})
	}
	if err != nil {
		err = fmt.Errorf("gate: %w", err)
	}
	return max(time.Duration(loaded.PauseMS)*time.Millisecond, interval), err
}

// Revoke never uses the issuer's key with this kid again, even if the issuer still publishes it. Call it if a private
// key was stolen. The error for an unknown issuer is [orbgate.ErrNotFound].
func (g *Gate) Revoke(issuer, kid string) error {
	return g.raw.Ask(nil, &steps.Revoke{Issuer: issuer, Kid: kid}, new(steps.Step))
}

// Forget drops an issuer's keys. Call it if the issuer has withdrawn a key before it expired. The next token waits for
// new keys. The error for an unknown issuer is [orbgate.ErrNotFound].
func (g *Gate) Forget(issuer string) error {
	return g.raw.Ask(nil, &steps.Forget{Issuer: issuer}, new(steps.Step))
}

// An Issuer is the status of an issuer's keys.
type Issuer struct {
	Name string
	// Keys is the number of usable keys. If it is 0, every token of the issuer is rejected, unless its tokens are
	// Opaque: an introspection endpoint is asked about them.
	Keys   int
	Opaque bool
	// Fetched is when the keys were fetched; the zero time if never.
	Fetched time.Time
	// Failure is why the last attempt failed; empty if it succeeded. Warnings has a line for each unusable key.
	Failure, Warnings string
}

// Status returns the status of each issuer's keys, for logs and health checks.
func (g *Gate) Status() []Issuer {
	var issuers []Issuer
	for _, raw := range g.status() {
		issuer := Issuer{Name: raw.Issuer, Keys: int(raw.KeyCount), Opaque: raw.Opaque, Failure: raw.Failure, Warnings: raw.Warnings}
		if raw.KeyCount > 0 {
			issuer.Fetched = g.start.Add(time.Duration(raw.FetchedMS) * time.Millisecond)
		}
		issuers = append(issuers, issuer)
	}
	return issuers
}

func (g *Gate) status() []steps.IssuerStatus {
	step := new(steps.Step)
	if g.raw.Ask(nil, &steps.Status{}, step) != nil {
		return nil
	}
	return step.KeyStatus.Issuers
}

// The time since 1970, and on a monotonic clock.
func (g *Gate) now() (unixMS, monotonicMS uint64) {
	now := time.Now()
	return uint64(max(now.UnixMilli(), 0)), uint64(now.Sub(g.start).Milliseconds())
}

func (g *Gate) monotonicMS() uint64 { return uint64(time.Since(g.start).Milliseconds()) }

// Warm fetches every issuer's keys, so that the first request needn't wait. The error names the issuers without keys.
func (g *Gate) Warm(ctx context.Context) error {
	// A closed gate has no keys, which the status says.
	_ = g.raw.Ask(nil, &steps.Warm{MonotonicMS: g.monotonicMS()}, new(steps.Step))
	g.startCalls()
	if err := g.wait(ctx, time.Time{}, func() bool { return g.fetching == 0 }); err != nil {
		return err
	}
	var missing []string
	for _, issuer := range g.status() {
		if issuer.KeyCount == 0 && !issuer.Opaque {
			missing = append(missing, fmt.Sprintf("%s: %s", issuer.Issuer, issuer.Failure))
		}
	}
	if missing != nil {
		return errors.New("gate: there are no keys: " + strings.Join(missing, ", "))
	}
	return nil
}
