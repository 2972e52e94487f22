package gate

import (
	"context"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"github.com/orbgate/orbgate/bindings/go/orbgate"
)

// Mux protects a mux: serve the handler that it returns. A request reaches a handler only if the mux's pattern is the
// policy's template for that request. So a pattern that the policy lacks, a pattern with a host, a wildcard such as
// `{rest...}`, and a redirect by the mux are denied and counted. A denial is a bare status, with WWW-Authenticate or
// Allow.
//
// Handlers get their call through [HandlerFunc]. [Gate.CheckMux] compares the mux with the policy at startup.
func (g *Gate) Mux(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The mux chooses again, from the same request. Its Handler sets no path values, so it can't be called instead.
		_, pattern := mux.Handler(r)
		request := g.routed(r, templateOf(pattern, r.Method), pattern)
		serve(mux, w, r, g.askWithBody(r, request))
	})
}

// Middleware protects a handler, such as a router other than [http.ServeMux], and doesn't compare anything with its
// routes. It protects a mux like [Gate.Mux]. If a router is outside the middleware, set [Config.Template]. Without it, the
// pattern of a mux or of chi outside is compared, unless it matches a subtree: a router could be inside.
//
// A handler that takes over connections belongs outside: `h2c.NewHandler(protect.Middleware(router), …)`. Inside the
// gate, it would get no HTTP/2 requests, because the gate denies them.
func (g *Gate) Middleware(next http.Handler) http.Handler {
	if mux, is := next.(*http.ServeMux); is && g.config.Template == nil {
		return g.Mux(mux)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serve(next, w, r, g.askHTTP(r)) })
}

func serve(next http.Handler, w http.ResponseWriter, r *http.Request, answer Answer) {
	if !answer.IsAllow() {
		answer.Deny(w)
		return
	}
	r = r.WithContext(With(r.Context(), answer))
	w = answer.Writer(w)
	if answer.held != nil {
		answer.held.run(next, w, r)
	} else {
		next.ServeHTTP(w, r)
	}
	if stating, is := w.(*stating); is {
		// A handler that writes nothing sends a 200.
		stating.state()
	}
}

// AskHTTP decides a request of [net/http], for frameworks with another form of middleware. A request whose path was
// rewritten before the gate, so that r.URL differs from r.RequestURI, is denied: put [http.StripPrefix] inside the
// gate.
//
// A gate with a ledger denies it, because only [Gate.Mux], [Gate.Middleware] and [Gate.ServeRouted] can charge.
func (g *Gate) AskHTTP(r *http.Request) Answer {
	if g.orbs != nil {
		return g.seen(Answer{Status: http.StatusForbidden, Err: errOutside}, nil)
	}
	return g.askHTTP(r)
}

func (g *Gate) askHTTP(r *http.Request) Answer {
	if g.config.Template != nil {
		template := ""
		_ = g.guarded("Template", func() error {
			template = g.config.Template(r)
			return nil
		})
		return g.askWithBody(r, g.routed(r, template, r.Pattern))
	}
	if g.config.Templates == Braces && isOneRoute(r) {
		return g.askWithBody(r, g.routed(r, Pattern(r), r.Pattern))
	}
	return g.askWithBody(r, g.request(r))
}

// Whether the pattern that a mux or chi has matched is without a subtree, so that its handler can't be a router. chi drops
// a final slash.
func isOneRoute(r *http.Request) bool {
	pattern := r.Pattern
	if strings.HasSuffix(r.URL.Path, "/") {
		return strings.HasSuffix(pattern, "{$}")
	}
	return pattern != "" && !strings.HasSuffix(pattern, "/") && !strings.HasSuffix(pattern, "*") && !strings.HasSuffix(pattern, "...}")
}

// Doesn't read the body of a denied request.
func (g *Gate) askWithBody(r *http.Request, request Request) Answer {
	if probe, is := r.Context().Value(probeKey{}).(*probe); is {
		probe.seenBy = g
		return Answer{}
	}
	answer, step := g.ask(r.Context(), request, nil)
	if answer.consumes() && !request.AllowBonusOrbs && g.bodyAllowsBonusOrbs(r) {
		request.AllowBonusOrbs = true
		answer, step = g.ask(r.Context(), request, step)
	}
	if g.orbs != nil && answer.IsAllow() {
		answer, step = g.orbs.hold(r, request, answer, step)
	}
	return g.seen(answer, step)
}

// Whether its handler will run, and consumes orbs.
func (a Answer) consumes() bool {
	charge, stated := a.Decision.Charge()
	return a.IsAllow() && stated && charge.Consumes
}

func (g *Gate) bodyAllowsBonusOrbs(r *http.Request) bool {
	most := g.config.BonusFromBody
	if most <= 0 || r.Body == nil {
		return false
	}
	body, err := readBody(r, most)
	return err == nil && g.AllowsBonusOrbs(body)
}

// ServeRouted runs a handler for a request that a router has sent to the route with this template, including any prefix,
// in the syntax of [Config.Templates]; empty if the router doesn't report it. A denied request runs nothing. With
// [Config.Ledger], the handler's answer is charged: it must write to the writer that it gets. Routers other than
// [http.ServeMux] don't report whether a handler is only for OPTIONS, so a CORS preflight needs a token there: put CORS
// middleware outside the gate.
func (g *Gate) ServeRouted(w http.ResponseWriter, r *http.Request, template string, next http.Handler) {
	serve(next, w, r, g.askWithBody(r, g.routed(r, template, r.Pattern)))
}

// AskRouted decides a request like [Gate.ServeRouted], and like [Gate.AskHTTP] runs nothing.
func (g *Gate) AskRouted(r *http.Request, template string) Answer {
	if g.orbs != nil {
		return g.seen(Answer{Status: http.StatusForbidden, Err: errOutside}, nil)
	}
	return g.askWithBody(r, g.routed(r, template, r.Pattern))
}

// A request that a router has sent to the route with this template, or that a mux has matched with this pattern.
func (g *Gate) routed(r *http.Request, template, pattern string) Request {
	request := g.request(r)
	if !request.Routed {
		request.Routed, request.Template = true, template
	}
	if !hasMethod(pattern) || templateOf(pattern, r.Method) != template {
		// A preflight must not run a handler for every method. A mux's pattern that isn't the template is that of a mux around
		// the router, and says nothing about the handler.
		request.AccessControlRequestMethod = nil
	}
	return request
}

func (g *Gate) request(r *http.Request) Request {
	request := Request{
		Method: r.Method, Target: r.RequestURI, Authorization: r.Header["Authorization"],
		Header: r.Header, Body: func(most, mostHeld int64) ([]byte, error) { return g.readHeld(r, most, mostHeld) },
		Upgrade: r.Header["Upgrade"], Origin: r.Header["Origin"], AccessControlRequestMethod: r.Header["Access-Control-Request-Method"],
		AccessControlRequestHeaders: r.Header["Access-Control-Request-Headers"], DPoP: r.Header["Dpop"],
		ReadsBonusOrbs: g.config.BonusOrbs != nil || g.config.BonusFromBody > 0,
	}
	if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
		request.Certificate = r.TLS.PeerCertificates[0].Raw
	}
	for name := range r.Header {
		// Few requests have a header that the gate reads.
		if strings.Contains(strings.ToLower(name), "method") {
			request.HeaderNames = append(request.HeaderNames, name)
		}
	}
	if g.config.BonusOrbs != nil {
		_ = g.guarded("BonusOrbs", func() error {
			request.AllowBonusOrbs = g.config.BonusOrbs(r)
			return nil
		})
	}
	// Everything that reads r.URL would see a different path than the decided one, so the template
	// counts as unknown.
	request.Routed = isRewritten(r)
	return request
}

// Whether the path was changed since the request was received. The query can change, because no decision depends
// on it.
func isRewritten(r *http.Request) bool {
	path, _, _ := strings.Cut(r.RequestURI, "?")
	return r.URL.EscapedPath() != path
}

// Deny writes the response to a denied request: a status, `Cache-Control: no-store` because caches can keep a 404 or a
// 405, and other headers. It has a body only at an MCP endpoint, and if it is the metadata of the protected
// resource.
func (a Answer) Deny(w http.ResponseWriter) {
	w.Header().Set("Cache-Control", "no-store")
	if a.WWWAuthenticate != "" {
		w.Header().Set("WWW-Authenticate", a.WWWAuthenticate)
	}
	if a.Allow != "" {
		w.Header().Set("Allow", a.Allow)
	}
	for _, header := range a.Headers {
		w.Header().Set(header[0], header[1])
	}
	if a.RetryAfter != 0 {
		w.Header().Set("Retry-After", strconv.Itoa(a.RetryAfter))
	}
	w.WriteHeader(a.HTTPStatus())
	if a.Body != nil {
		_, _ = w.Write(a.Body)
	}
}

// HTTPStatus returns the status of a denial; 0 for an allow.
func (a Answer) HTTPStatus() int {
	switch {
	case a.IsAllow():
		return 0
	case a.Status == 0:
		return http.StatusForbidden
	}
	return a.Status
}

// Pattern is a [Config.Template] for a gate inside an [http.ServeMux]. It returns the template of the pattern that the
// mux has matched.
func Pattern(r *http.Request) string { return templateOf(r.Pattern, r.Method) }

// Whether a mux's pattern is for one method.
func hasMethod(pattern string) bool { return strings.ContainsAny(pattern, " \t") }

// The template of a mux's pattern, `[METHOD ][HOST]/PATH`, if it is for the method. A host is kept, so that the
// template matches none of a policy.
func templateOf(pattern, method string) string {
	end := strings.IndexAny(pattern, " \t")
	if end < 0 {
		return pattern
	}
	// A pattern for GET also matches HEAD, which the policy has decided as HEAD.
	if of := pattern[:end]; of != method && (of != http.MethodGet || method != http.MethodHead) {
		return ""
	}
	return strings.TrimLeft(pattern[end:], " \t")
}

// A Call is an allowed call, with the gate's decision.
type Call struct {
	Decision orbgate.Decision
	// Token is never nil. On a public route, its kind is [orbgate.KindNone], and all other fields are empty, even if the
	// request has a token.
	Token *Token
	// Preflight is like [Answer.Preflight].
	Preflight bool
	// The request that was decided.
	method, target string
	held           *held
}

// A HandlerFunc is a handler that gets the gate's decision. It runs only for the request that the gate has allowed.
// Without a gate, or if the method or the path was rewritten since, the response is a bare 500, and the log explains
// why.
type HandlerFunc func(w http.ResponseWriter, r *http.Request, call Call)

// ServeHTTP calls f if the gate has allowed the request.
func (f HandlerFunc) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	call, ok := From(r.Context())
	switch {
	case !ok:
		slog.Error("no gate protects this handler", "pattern", r.Pattern)
	case call.method != r.Method || call.target != r.RequestURI || isRewritten(r):
		slog.Error("the request has been rewritten between the gate and this handler", "pattern", r.Pattern)
	default:
		f(w, r, call)
		return
	}
	w.WriteHeader(http.StatusInternalServerError)
}

type key struct{}

// With adds a result to a context, for frameworks with another form of middleware. A denial hides the allow of an outer
// gate.
func With(ctx context.Context, answer Answer) context.Context {
	if !answer.IsAllow() {
		return context.WithValue(ctx, key{}, nil)
	}
	if answer.Token == nil {
		answer.Token = &Token{Kind: orbgate.KindNone}
	}
	return context.WithValue(ctx, key{}, Call{answer.Decision, answer.Token, answer.Preflight, answer.method, answer.target, answer.held})
}

// From returns the gate's decision on the call that a handler serves; false if no gate has allowed it. [HandlerFunc]
// responds with 500 in that case.
func From(ctx context.Context) (Call, bool) {
	call, ok := ctx.Value(key{}).(Call)
	return call, ok
}
