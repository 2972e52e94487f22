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
	// Challenge selects the WWW-Authenticate header of denials.
	Challenge Challenge
	// Flat403 denies every request with 403, so that callers can't distinguish an unknown route from a missing
	// scope.
	Flat403 bool
	// RefuseWider makes [Gate.Reload] reject a policy that allows more than the active one, or for fewer orbs.
	RefuseWider bool
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
	// Messages that were already logged.
	said sync.Map
}

// New makes a gate, and reads the secrets that opaque issuers need. If the configuration is invalid, the error is an
// [*orbgate.Error] with all errors and their locations. Keys are fetched when the first token arrives, or with
// [Gate.Warm].
func New(config Config) (*Gate, error) {
	if config.Policy == nil {
		return nil, errors.New("gate: there is no policy")
	}
	options := steps.Options{
		Templates: uint32(config.Templates), Realm: config.Challenge.Realm, ResourceMetadata: config.Challenge.ResourceMetadata,
		Public: config.Public, Flags: steps.GateIntrospection,
	}
	if config.CorsPreflight {
		options.CorsPreflight = steps.CorsPreflightPass
	}
	switch {
	case config.Challenge.Full:
		options.Challenge = steps.ChallengeFull
	case config.Challenge.None:
		options.Challenge = steps.ChallengeNone
	}
	if config.Flat403 {
		options.Flags |= steps.GateFlat403
	}
	raw, err := steps.New(config.Tokens, &options)
	if err != nil {
		return nil, fmt.Errorf("gate: %w", err)
	}
	engine := config.Policy.Load()
	defer engine.Close()
	// Without a policy, every request is denied.
	if err := raw.CheckEngine(engine); err != nil && !errors.Is(err, orbgate.ErrClosed) {
		raw.Close()
		return nil, fmt.Errorf("gate: %w", err)
	}
	if config.Logger == nil {
		config.Logger = slog.Default()
	}
	config.Logger = slog.New(quiet{config.Logger.Handler()})
	g := &Gate{config: config, client: clientOf(config.Client), raw: raw, start: time.Now(), ended: make(chan struct{})}
	g.background, g.cancel = context.WithCancel(context.Background())
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

// Close ends the gate: it cancels running fetches, and denies every further request.
func (g *Gate) Close() error {
	g.mutex.Lock()
	g.closed = true
	g.mutex.Unlock()
	g.cancel()
	for g.wait(context.Background(), time.Time{}, func() bool { return g.fetching == 0 }) != nil {
	}
	g.raw.Close()
	return nil
}

// A Request is a request as received, for servers other than [net/http].
type Request struct {
	// Method and Target (path and query) are those of the request line, byte for byte.
	Method, Target string
	// Authorization contains every value of that header, one item for each header line.
	Authorization []string
	// Upgrade, Origin and AccessControlRequestMethod contain every value of those headers.
	Upgrade, Origin, AccessControlRequestMethod []string
	// HeaderNames are the names of all headers, or at least those that contain `method`, in any letter case. A header can
	// override the method.
	HeaderNames []string
	// Routed states that a router is outside, and Template is the one that it has chosen; empty if the router
	// doesn't report it.
	Routed   bool
	Template string
	// AllowBonusOrbs states that the request allows bonus orbs.
	AllowBonusOrbs bool
}

// An Answer is a gate's result for a request. The zero Answer denies.
type Answer struct {
	// Decision is the engine's.
	Decision orbgate.Decision
	// Status is the status of a denial, which must be sent with an empty body; 0 for an allow. WWWAuthenticate and Allow
	// are its headers, if they aren't empty.
	Status                 int
	WWWAuthenticate, Allow string
	// Refused is why the token was rejected: a code for logs. Don't send it to callers.
	Refused string
	// Token is the verified token; nil without a valid token, and on a public route.
	Token *Token
	// PublicTemplate is the template of an allowed request that needs no token, whose decision has no route; otherwise
	// empty.
	PublicTemplate string
	// Preflight is whether the request is allowed only as a CORS preflight ([Config.CorsPreflight]): don't run a handler
	// that takes other methods than OPTIONS.
	Preflight bool
	// Err is why there is no result: the caller has disconnected, or the gate or the engine is closed. The
	// request is denied.
	Err error
	// The request that was decided.
	method, target string
}

// IsAllow reports whether the request is allowed.
func (a Answer) IsAllow() bool { return a.Err == nil && a.Status == 0 && a.Decision.IsAllow() }

// A Token is a verified token.
type Token struct {
	Kind orbgate.TokenKind
	// Scopes are separated by single spaces.
	Scopes string
	Issuer string
	// Subject, Client, Actor and ID are empty if the token doesn't state them.
	Subject, Client, Actor, ID string
	// Fingerprint identifies the token in logs, and reveals nothing about it.
	Fingerprint string
	Expires     time.Time
}

// Ask decides a request. It waits for the network only if keys must be fetched first, and no longer than the context.
func (g *Gate) Ask(ctx context.Context, request Request) Answer { return g.seen(g.ask(ctx, request)) }

// AllowsBonusOrbs reports whether a whole body is a JSON object that contains `"allowBonusOrbsUse": true` exactly once,
// for [Request.AllowBonusOrbs].
func (g *Gate) AllowsBonusOrbs(body []byte) bool { return g.raw.AllowsBonusOrbs(body) }

// The result and its step, before they are observed.
func (g *Gate) ask(ctx context.Context, request Request) (Answer, *steps.Step) {
	engine := g.config.Policy.Load()
	defer func() { engine.Close() }()
	asked := steps.Request{
		Method: request.Method, Target: request.Target, Authorization: request.Authorization, HeaderNames: request.HeaderNames,
		Upgrade: request.Upgrade, Origin: request.Origin, AccessControlRequestMethod: request.AccessControlRequestMethod,
	}
	if request.AllowBonusOrbs {
		asked.Flags |= steps.AllowBonusOrbs
	}
	if g.config.Audit != nil {
		asked.Flags |= steps.WithAudit
	}
	if request.Routed {
		asked.Matched, asked.Template = steps.MatchedTemplate, request.Template
		if request.Template == "" {
			asked.Matched = steps.MatchedUnknown
		}
	}
	unixMS, monotonicMS := g.now()
	step, err := g.raw.Ask(engine, &asked, unixMS, monotonicMS)
	if err != nil || step.MayFetch {
		g.startFetches()
	}
	for {
		if err != nil {
			return Answer{Status: http.StatusForbidden, Err: err}, nil
		}
		switch step.Kind {
		case steps.StepAnswer:
			if step.Misrouted != nil {
				// The route that the request matches is the one that allowed it.
				g.misrouted(engine.Decide(request.Method, request.Target, orbgate.NoToken()).About(), *step.Misrouted)
			}
			answer := answerOf(step)
			answer.method, answer.target = request.Method, request.Target
			// The policy allows a misrouted request, so there is nothing to explain.
			if step.Misrouted == nil {
				g.explain(engine, answer)
			}
			return answer, step
		case steps.StepCheckSignature:
			isRight := g.keys.verify(step)
			unixMS, monotonicMS = g.now()
			step, err = g.raw.Checked(engine, step, isRight, unixMS, monotonicMS)
			if err != nil || step.MayFetch { // A wrong signature can mean a new key.
				g.startFetches()
			}
		default:
			until := g.start.Add(time.Duration(step.UntilMS) * time.Millisecond)
			isOver := func() bool { return g.raw.IsOver(step, g.monotonicMS()) }
			if gone := g.wait(ctx, until, isOver); gone != nil {
				g.raw.Drop(step)
				return Answer{Status: http.StatusForbidden, Err: gone}, nil
			}
			// The policy might have changed in the meantime.
			engine.Close()
			engine = g.config.Policy.Load()
			unixMS, monotonicMS = g.now()
			step, err = g.raw.Resume(engine, step, unixMS, monotonicMS)
			g.startFetches()
		}
	}
}

func answerOf(step *steps.Step) Answer {
	text := func(text *string) string {
		if text == nil {
			return ""
		}
		return *text
	}
	answer := Answer{
		Decision: step.Decision.(orbgate.Decision), Status: step.HTTPStatus,
		WWWAuthenticate: text(step.WWWAuthenticate), Allow: text(step.Allow), Refused: step.Refused,
		PublicTemplate: step.PublicTemplate, Preflight: step.Preflight,
	}
	if kind := orbgate.TokenKind(step.TokenKind); kind != orbgate.KindNone {
		answer.Token = &Token{
			Kind: kind, Scopes: step.Scopes, Issuer: step.Issuer, Subject: step.Subject, Client: step.Client, Actor: step.Act, ID: step.ID,
			Fingerprint: step.Fingerprint, Expires: time.UnixMilli(int64(step.ExpiresMS)),
		}
	}
	return answer
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
	if step != nil && step.Audit != nil {
		g.write(*step.Audit)
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
// previous policy stays active, and the error is like that of [orbgate.FromFile]. With
// [Config.RefuseWider], the previous policy also stays active if the new one allows more. The secrets for opaque tokens
// are read again; if one can't be read, all of them and the policy stay as they are.
func (g *Gate) Reload(path string) error {
	result := terms.LoadLoaded
	engine, err := orbgate.FromFile(path)
	switch {
	case errors.Is(err, orbgate.ErrIO):
		result = terms.LoadUnreadable
	case err != nil:
		result = terms.LoadRefused
	case !engine.HasEndMarker():
		result = terms.LoadUnfinished
		err = &orbgate.Error{Status: orbgate.StatusInvalidPolicy, Path: path, Message: path + ": the policy has no end marker, the line `...`: it may be half-written"}
	default:
		if err = g.raw.CheckEngine(engine); err != nil {
			result = terms.LoadRefused
		} else if result, err = g.checkWider(path, engine); err != nil {
			break
		} else if err = g.raw.ReadSecrets(); err != nil {
			result = terms.LoadRefused
		} else {
			g.config.Policy.Store(engine)
		}
	}
	engine.Close()
	g.count(terms.PolicyLoadsTotal, Label{terms.LabelResult, result})
	if err != nil {
		g.config.Logger.Error("the previous policy stays active", "error", err)
		return fmt.Errorf("gate: %w", err)
	}
	g.config.Logger.Info("a policy is active", "path", path)
	return nil
}

// Revoke never uses the issuer's key with this kid again, even if the issuer still publishes it. Call it if a private
// key was stolen. The error for an unknown issuer is [orbgate.ErrNotFound].
func (g *Gate) Revoke(issuer, kid string) error { return g.raw.Revoke(issuer, kid) }

// Forget drops an issuer's keys. Call it if the issuer has withdrawn a key before it expired. The next token waits for
// new keys. The error for an unknown issuer is [orbgate.ErrNotFound].
func (g *Gate) Forget(issuer string) error { return g.raw.Forget(issuer) }

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
	for _, raw := range g.raw.Status() {
		issuer := Issuer{Name: raw.Name, Keys: raw.Keys, Opaque: raw.Opaque, Failure: raw.Failure, Warnings: raw.Warnings}
		if raw.Keys > 0 {
			issuer.Fetched = g.start.Add(time.Duration(raw.FetchedMS) * time.Millisecond)
		}
		issuers = append(issuers, issuer)
	}
	return issuers
}

// The time since 1970, and on a monotonic clock.
func (g *Gate) now() (unixMS, monotonicMS uint64) {
	now := time.Now()
	return uint64(max(now.UnixMilli(), 0)), uint64(now.Sub(g.start).Milliseconds())
}

func (g *Gate) monotonicMS() uint64 { return uint64(time.Since(g.start).Milliseconds()) }

// Warm fetches every issuer's keys, so that the first request needn't wait. The error names the issuers without keys.
func (g *Gate) Warm(ctx context.Context) error {
	g.raw.Warm(g.monotonicMS())
	g.startFetches()
	if err := g.wait(ctx, time.Time{}, func() bool { return g.fetching == 0 }); err != nil {
		return err
	}
	var missing []string
	for _, issuer := range g.raw.Status() {
		if issuer.Keys == 0 && !issuer.Opaque {
			missing = append(missing, fmt.Sprintf("%s: %s", issuer.Name, issuer.Failure))
		}
	}
	if missing != nil {
		return errors.New("gate: there are no keys: " + strings.Join(missing, ", "))
	}
	return nil
}
