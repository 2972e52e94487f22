// Package gate protects a service: it takes a request as it came, verifies its bearer token, decides and answers.
//
//	protect, err := gate.New(gate.Config{Policy: orbgate.NewHandle(engine), Tokens: tokens})
//	…
//	http.ListenAndServe(":8080", protect.Mux(mux))
//
// What is verified and decided are the rules of the engine, the same in every language. This package fetches the issuers' keys, by
// [net/http], and has the clocks; where the engine is WebAssembly it checks signatures, too, by Go's crypto packages.
package gate

import (
	"context"
	"crypto/tls"
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

// A Config says what a gate needs. Policy and Tokens are required.
type Config struct {
	// Policy holds the policy in force: store another engine, and the next request is decided by it.
	Policy *orbgate.Handle
	// Tokens says which tokens count: the text of a token configuration.
	Tokens string
	// Client fetches the issuers' keys: your proxies, roots and timeouts. It follows no redirect, in any case. By default it is one
	// with the settings of [http.DefaultTransport].
	Client *http.Client
	// Template gives the template that a router outside the middleware has taken, with its prefix; empty if it does not
	// say, and also if it panics. Then a request that another route of the policy would allow is denied. Nil if no router is outside.
	Template func(*http.Request) string
	// Templates is how that router writes parameters.
	Templates Templates
	// BonusOrbs says whether a request allows bonus orbs; by default, and if it panics, none does.
	BonusOrbs func(*http.Request) bool
	// BonusFromBody is how many bytes of the body of an allowed request the middleware reads for `"allowBonusOrbsUse": true`; by default
	// none. The service still gets the whole body. One that is longer allows no bonus orbs.
	BonusFromBody int64
	// Public are routes that need no token, written as in a policy with the whole path, such as `GET /healthz`. No path may fit both one of
	// them and a route of the policy: [New] and [Gate.Reload] fail then.
	Public []string
	// CorsPreflight lets a browser ask with OPTIONS, without a token, whether a cross-origin request is allowed, if its route is declared.
	CorsPreflight bool
	// Challenge is what a denied caller is told in WWW-Authenticate.
	Challenge Challenge
	// Flat403 answers every denial with 403, so that a caller cannot tell an unknown route from a missing scope.
	Flat403 bool
	// Logger gets fetches that fail, and routers that disagree with the policy; by default it is [slog.Default]. No answer depends on it.
	Logger *slog.Logger
	// Count adds one to a counter, such as orbgate_decisions_total: see [Label]. If it panics, the gate logs that once, and answers as before.
	Count func(counter string, labels ...Label)
	// Audit gets a line of JSON for each decision. Requests wait for it. If it fails or panics, the gate logs that once, counts the line in
	// orbgate_audit_lost_total, and answers as before.
	Audit io.Writer
}

// Templates is how a router writes the parameters of its templates.
type Templates uint32

// The styles of templates.
const (
	// Braces are {id} and {id:[0-9]+}: net/http, chi, gorilla/mux.
	Braces Templates = steps.TemplatesBraces
	// Colons are :id: gin, echo, fiber.
	Colons Templates = steps.TemplatesColons
)

// A Challenge is what a denied caller is told in WWW-Authenticate.
type Challenge struct {
	// Full names the error and the missing scope, as RFC 6750 does.
	Full bool
	// None sends no header, and answers every denial with 403.
	None bool
	// Realm and ResourceMetadata, an https URL, are parts of a full challenge.
	Realm, ResourceMetadata string
}

// A Label is one of a counter. orbgate_decisions_total has decision, reason and route, orbgate_tokens_refused_total has reason, and
// orbgate_misrouted_total has route and matched, orbgate_policy_loads_total has result. Their values are codes and templates, never a path, and nothing of a token.
type Label struct{ Name, Value string }

// A Gate is rules and keys. It may be used from any goroutine at any time, Close included.
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
	// What was logged once.
	said sync.Map
}

// New makes a gate. The error of a configuration with errors is an [*orbgate.Error] with every one of them, each with its location.
// Nothing is fetched before the first token: see [Gate.Warm].
func New(config Config) (*Gate, error) {
	if config.Policy == nil {
		return nil, errors.New("gate: there is no policy")
	}
	options := steps.Options{
		Templates: uint32(config.Templates), Realm: config.Challenge.Realm, ResourceMetadata: config.Challenge.ResourceMetadata,
		Public: config.Public,
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
		options.Flags = steps.GateFlat403
	}
	raw, err := steps.New(config.Tokens, &options)
	if err != nil {
		return nil, fmt.Errorf("gate: %w", err)
	}
	engine := config.Policy.Load()
	defer engine.Close()
	// Without a policy yet, every request is denied.
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

// FromFiles makes a gate of the files of a policy and of a token configuration, as [New] does of their texts. Options change the rest of the
// configuration, which has its defaults otherwise:
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

// The client, which follows no redirect and keeps no cookies.
func clientOf(client *http.Client) *http.Client {
	own := http.Client{}
	if client != nil {
		own = *client
	} else if transport, is := http.DefaultTransport.(*http.Transport); is {
		transport = transport.Clone()
		transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
		own.Transport = transport
	}
	own.Jar = nil
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// Close ends the gate: it cancels what is being fetched, and denies every further request.
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

// A Request is one as it came over the wire: for servers that are not [net/http]'s.
type Request struct {
	// Method and Target, path and query, are those of the request line, byte by byte.
	Method, Target string
	// Authorization has every value of that header, one item a line.
	Authorization []string
	// Upgrade, Origin and AccessControlRequestMethod have every value of those headers.
	Upgrade, Origin, AccessControlRequestMethod []string
	// HeaderNames are those of all headers, or at least those that contain `method`, in any letter case. A header can override the method.
	HeaderNames []string
	// Routed says that a router is outside, and Template is the one that it has taken; empty where it does not say.
	Routed   bool
	Template string
	// AllowBonusOrbs says that the request allows bonus orbs.
	AllowBonusOrbs bool
}

// An Answer is what a gate says to a request. The zero Answer denies.
type Answer struct {
	// Decision is the engine's.
	Decision orbgate.Decision
	// Status is that of a denial, to be sent with an empty body; 0 for an allow. WWWAuthenticate and Allow are its headers, where
	// they are not empty.
	Status                 int
	WWWAuthenticate, Allow string
	// Refused is why the token is refused: a code for logs, of which the caller learns nothing.
	Refused string
	// Token is what is known of the token; nil where none is right, and on a public route.
	Token *Token
	// PublicTemplate is that of an allowed request that needs no token, whose decision has no route; else it is empty.
	PublicTemplate string
	// Err says why there is no answer: the caller has gone away, or the gate or the engine is closed. It denies.
	Err error
	// The request that it answers.
	method, target string
}

// IsAllow says whether the request may pass.
func (a Answer) IsAllow() bool { return a.Err == nil && a.Status == 0 && a.Decision.IsAllow() }

// A Token is what is known of a verified one.
type Token struct {
	Kind orbgate.TokenKind
	// Scopes are separated by one space.
	Scopes string
	Issuer string
	// Subject, Client, Actor and ID are empty where the token does not say.
	Subject, Client, Actor, ID string
	// Fingerprint names the token in logs, and reveals nothing of it.
	Fingerprint string
	Expires     time.Time
}

// Ask asks about a request. It waits for the network only where keys must come first, and no longer than the context.
func (g *Gate) Ask(ctx context.Context, request Request) Answer { return g.seen(g.ask(ctx, request)) }

// AllowsBonusOrbs says whether a whole body is a JSON object that says `"allowBonusOrbsUse": true`, once: for [Request.AllowBonusOrbs].
func (g *Gate) AllowsBonusOrbs(body []byte) bool { return g.raw.AllowsBonusOrbs(body) }

// The answer and the step that has it, before anybody has seen it.
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
				// It was allowed by the route that it is about.
				g.misrouted(engine.Decide(request.Method, request.Target, orbgate.NoToken()).About(), *step.Misrouted)
			}
			answer := answerOf(step)
			answer.method, answer.target = request.Method, request.Target
			return answer, step
		case steps.StepCheckSignature:
			isRight := g.keys.verify(step)
			unixMS, monotonicMS = g.now()
			step, err = g.raw.Checked(engine, step, isRight, unixMS, monotonicMS)
		default:
			until := g.start.Add(time.Duration(step.UntilMS) * time.Millisecond)
			isOver := func() bool { return g.raw.IsOver(step, g.monotonicMS()) }
			if gone := g.wait(ctx, until, isOver); gone != nil {
				g.raw.Drop(step)
				return Answer{Status: http.StatusForbidden, Err: gone}, nil
			}
			// The policy may be a later one by now.
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
		PublicTemplate: step.PublicTemplate,
	}
	if kind := orbgate.TokenKind(step.TokenKind); kind != orbgate.KindNone {
		answer.Token = &Token{
			Kind: kind, Scopes: step.Scopes, Issuer: step.Issuer, Subject: step.Subject, Client: step.Client, Actor: step.Act, ID: step.ID,
			Fingerprint: step.Fingerprint, Expires: time.UnixMilli(int64(step.ExpiresMS)),
		}
	}
	return answer
}

// Reports an answer: to the counters, the log and the audit.
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

// Counts a request that the policy allows by one route, but a router has sent to another, or to one that it does not name.
func (g *Gate) misrouted(route, matched string) {
	g.count(terms.MisroutedTotal, Label{terms.LabelRoute, route}, Label{terms.LabelMatched, matched})
	g.once("requests are denied: the router has taken a route that the policy lacks, or none, or the path was rewritten before the gate", "route", route, "matched", matched)
}

func (g *Gate) count(counter string, labels ...Label) {
	if g.config.Count != nil {
		_ = g.guarded("Count", func() error {
			g.config.Count(counter, labels...)
			return nil
		})
	}
}

// Reload puts a new version of the policy in force, from a file: every later request is decided by it. The file must end in the end marker,
// so that half a file is never taken. Otherwise, and if it has errors or cannot be read, the former policy stays, and the error is as that of
// [orbgate.FromFile].
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
		} else {
			g.config.Policy.Store(engine)
		}
	}
	engine.Close()
	g.count(terms.PolicyLoadsTotal, Label{terms.LabelResult, result})
	if err != nil {
		g.config.Logger.Error("the policy stays as it was", "error", err)
		return fmt.Errorf("gate: %w", err)
	}
	g.config.Logger.Info("a policy is in force", "path", path)
	return nil
}

// Revoke never again uses an issuer's key with this kid, even if the issuer still publishes it: for a key whose private half was stolen.
// The error is [orbgate.ErrNotFound] for an unknown issuer.
func (g *Gate) Revoke(issuer, kid string) error { return g.raw.Revoke(issuer, kid) }

// Forget forgets an issuer's keys: for an issuer that has withdrawn one before it expired. The next token waits for new ones. The
// error is [orbgate.ErrNotFound] for an unknown issuer.
func (g *Gate) Forget(issuer string) error { return g.raw.Forget(issuer) }

// An Issuer is how the keys of one are.
type Issuer struct {
	Name string
	// Keys is how many there are to use; with none, every token of the issuer is refused.
	Keys int
	// Fetched is when; the zero time if never.
	Fetched time.Time
	// Failure is why the last attempt failed; empty if it did not. Warnings has a line for each key that is not used.
	Failure, Warnings string
}

// Status says how each issuer's keys are, for logs and health checks.
func (g *Gate) Status() []Issuer {
	var issuers []Issuer
	for _, raw := range g.raw.Status() {
		issuer := Issuer{Name: raw.Name, Keys: raw.Keys, Failure: raw.Failure, Warnings: raw.Warnings}
		if raw.Keys > 0 {
			issuer.Fetched = g.start.Add(time.Duration(raw.FetchedMS) * time.Millisecond)
		}
		issuers = append(issuers, issuer)
	}
	return issuers
}

// The time since 1970, and on a clock that nobody sets.
func (g *Gate) now() (unixMS, monotonicMS uint64) {
	now := time.Now()
	return uint64(max(now.UnixMilli(), 0)), uint64(now.Sub(g.start).Milliseconds())
}

func (g *Gate) monotonicMS() uint64 { return uint64(time.Since(g.start).Milliseconds()) }

// Warm fetches every issuer's keys, so that the first request need not wait. The error names the issuers without keys.
func (g *Gate) Warm(ctx context.Context) error {
	g.raw.Warm(g.monotonicMS())
	g.startFetches()
	if err := g.wait(ctx, time.Time{}, func() bool { return g.fetching == 0 }); err != nil {
		return err
	}
	var missing []string
	for _, issuer := range g.raw.Status() {
		if issuer.Keys == 0 {
			missing = append(missing, fmt.Sprintf("%s: %s", issuer.Name, issuer.Failure))
		}
	}
	if missing != nil {
		return errors.New("gate: there are no keys: " + strings.Join(missing, ", "))
	}
	return nil
}
