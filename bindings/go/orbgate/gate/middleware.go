package gate

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/orbgate/orbgate/bindings/go/orbgate"
)

// Middleware lets through what the policy allows. A denial is a bare status, with WWW-Authenticate or Allow. What is known of an
// allowed call is in its context: see [From].
//
// Put it around the router. Where a router is outside it, set [Config.Template].
func (g *Gate) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := g.AskHTTP(r)
		if !answer.IsAllow() {
			answer.Deny(w)
			return
		}
		next.ServeHTTP(w, r.WithContext(With(r.Context(), answer)))
	})
}

// AskHTTP asks about a request of [net/http]: for frameworks whose middleware has another form.
func (g *Gate) AskHTTP(r *http.Request) Answer {
	if g.config.Template != nil {
		return g.AskRouted(r, g.config.Template(r))
	}
	return g.askWithBody(r, g.request(r))
}

// Reads no body of a request that is denied.
func (g *Gate) askWithBody(r *http.Request, request Request) Answer {
	answer, step := g.ask(r.Context(), request)
	if answer.IsAllow() && !request.AllowBonusOrbs && g.bodyAllowsBonusOrbs(r) {
		request.AllowBonusOrbs = true
		answer, step = g.ask(r.Context(), request)
	}
	return g.seen(answer, step)
}

func (g *Gate) bodyAllowsBonusOrbs(r *http.Request) bool {
	most := g.config.BonusFromBody
	if most <= 0 || r.Body == nil || r.ContentLength > most {
		return false
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, most+1))
	// What was read comes first, and then the rest, or the same error.
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), r.Body), r.Body}
	return err == nil && int64(len(body)) <= most && g.AllowsBonusOrbs(body)
}

// AskRouted asks about a request that a router has taken to the route of this template, written with its prefix and as
// [Config.Templates] says; empty where the router does not say.
func (g *Gate) AskRouted(r *http.Request, template string) Answer {
	request := g.request(r)
	request.Routed, request.Template = true, template
	return g.askWithBody(r, request)
}

func (g *Gate) request(r *http.Request) Request {
	request := Request{Method: r.Method, Target: r.RequestURI, Authorization: r.Header["Authorization"]}
	for name := range r.Header {
		// Those that may make a POST another method, which few requests have.
		if strings.Contains(strings.ToLower(name), "method") {
			request.HeaderNames = append(request.HeaderNames, name)
		}
	}
	if g.config.BonusOrbs != nil {
		request.AllowBonusOrbs = g.config.BonusOrbs(r)
	}
	return request
}

// Deny writes the denial: a status, at most two headers, and no body.
func (a Answer) Deny(w http.ResponseWriter) {
	if a.WWWAuthenticate != "" {
		w.Header().Set("WWW-Authenticate", a.WWWAuthenticate)
	}
	if a.Allow != "" {
		w.Header().Set("Allow", a.Allow)
	}
	w.WriteHeader(a.HTTPStatus())
}

// HTTPStatus is the status of a denial; 0 for an allow.
func (a Answer) HTTPStatus() int {
	switch {
	case a.IsAllow():
		return 0
	case a.Status == 0:
		return http.StatusForbidden
	}
	return a.Status
}

// Pattern is a [Config.Template] for a gate inside an [http.ServeMux]: the path of the pattern that the mux has matched.
func Pattern(r *http.Request) string {
	_, path, found := strings.Cut(r.Pattern, "/")
	if !found {
		return ""
	}
	return "/" + path
}

// A Call is what a gate knows of an allowed call.
type Call struct {
	Decision orbgate.Decision
	// Token is never nil.
	Token *Token
}

type key struct{}

// With puts what an answer says into a context: for frameworks whose middleware has another form.
func With(ctx context.Context, answer Answer) context.Context {
	return context.WithValue(ctx, key{}, Call{answer.Decision, answer.Token})
}

// From gives what is known of the call that a handler serves; false where no gate has let it through.
func From(ctx context.Context) (Call, bool) {
	call, found := ctx.Value(key{}).(Call)
	return call, found
}
