package gate

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/orbgate/orbgate/bindings/go/orbgate/internal/steps"
)

// A Route is a route of a service.
type Route struct{ Method, Template string }

// A RoutesError lists the differences between the routes of a service and of its policy.
type RoutesError struct {
	// Undeclared are the routes that the policy lacks. No gate protects them.
	Undeclared []UndeclaredRoute
	// Unserved are the routes that the service lacks, which is harmless if several services share a
	// policy.
	Unserved []string
	// Ungated are the routes that [Gate.CheckHandler] could reach without the gate.
	Ungated []string
}

// An UndeclaredRoute is a route that the policy lacks.
type UndeclaredRoute struct {
	Route string
	// DecidedAs is the policy's route that decides its requests; empty if they are denied.
	DecidedAs string
}

// Error returns one line for each difference.
func (e *RoutesError) Error() string {
	lines := []string{"the service and its policy have different routes"}
	for _, route := range e.Undeclared {
		line := "the policy has no `" + route.Route + "`"
		if route.DecidedAs != "" {
			line += ", and decides it as `" + route.DecidedAs + "`"
		}
		lines = append(lines, line)
	}
	for _, route := range e.Unserved {
		lines = append(lines, "the service has no `"+route+"`")
	}
	for _, route := range e.Ungated {
		lines = append(lines, "no gate protects `"+route+"`")
	}
	return strings.Join(lines, "\n")
}

// CheckRoutes compares the routes of the service, in its router's syntax, with the routes of the policy. Call it at
// startup, and in tests. The error is a [*RoutesError].
func (g *Gate) CheckRoutes(routes []Route) error {
	question := new(steps.CheckRoutes)
	for _, route := range routes {
		question.Routes = append(question.Routes, steps.ServiceRoute{Method: route.Method, PathTemplate: route.Template})
	}
	engine := g.config.Policy.Load()
	defer engine.Close()
	step := new(steps.Step)
	if err := g.raw.Ask(engine, question, step); err != nil || len(step.RouteDifferences.Differences) == 0 {
		return err
	}
	differences := new(RoutesError)
	for _, difference := range step.RouteDifferences.Differences {
		if difference.Kind == steps.DifferenceUndeclared {
			differences.Undeclared = append(differences.Undeclared, UndeclaredRoute{difference.Route, difference.DecidedAs})
		} else {
			differences.Unserved = append(differences.Unserved, difference.Route)
		}
	}
	return differences
}

// CheckMux compares a mux with the policy. Call it at startup, and in tests. A mux can't list its patterns, so this
// looks up each route of the policy in it. The error, a [*RoutesError], lists the routes that the mux lacks, and the
// patterns that it chooses instead of the policy's template. A pattern that none of these requests reaches is denied
// when it is called.
func (g *Gate) CheckMux(mux *http.ServeMux) error {
	engine := g.config.Policy.Load()
	defer engine.Close()
	var routes []Route
	seen := map[Route]bool{}
	var declared []Route
	for _, route := range engine.Routes() {
		// What an MCP endpoint serves is no pattern of the mux.
		if g.config.MCP.Path == "" || route.Method != "MCP" {
			declared = append(declared, Route{route.Method, route.Template})
		}
	}
	if g.config.MCP.Path != "" {
		declared = append(declared, Route{http.MethodPost, g.config.MCP.Path})
	}
	for _, route := range g.config.Public {
		method, template, _ := strings.Cut(route, " ")
		declared = append(declared, Route{method, template})
	}
	for _, route := range declared {
		request := &http.Request{Method: route.Method, URL: &url.URL{Path: Braces.path(route.Template)}}
		_, pattern := mux.Handler(request)
		chosen := Route{route.Method, templateOf(pattern, route.Method)}
		if pattern != "" && !seen[chosen] {
			seen[chosen] = true
			routes = append(routes, chosen)
		}
	}
	return g.CheckRoutes(routes)
}

// CheckHandler compares routes like [Gate.CheckRoutes]. It also sends a request for each route through the service's
// handler, to find routes that bypass the gate. Call it in a test, because a handler that no gate protects runs,
// without a token, and with 1 for each parameter. Protected handlers don't run.
func (g *Gate) CheckHandler(handler http.Handler, routes []Route) error {
	err := g.CheckRoutes(routes)
	differences := new(RoutesError)
	if err != nil && !errors.As(err, &differences) {
		return err
	}
	for _, route := range routes {
		probe := new(probe)
		path := g.config.Templates.path(route.Template)
		request := &http.Request{Method: route.Method, URL: &url.URL{Path: path}, RequestURI: path, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: http.Header{}, Body: http.NoBody, Host: "localhost", RemoteAddr: "127.0.0.1:1"}
		handler.ServeHTTP(discard{}, request.WithContext(context.WithValue(context.Background(), probeKey{}, probe)))
		if probe.seenBy != g {
			differences.Ungated = append(differences.Ungated, route.Method+" "+route.Template)
		}
	}
	if err == nil && differences.Ungated == nil {
		return nil
	}
	return differences
}

// The gate that has seen a request of CheckHandler.
type probe struct{ seenBy *Gate }

type probeKey struct{}

type discard struct{}

func (discard) Header() http.Header             { return http.Header{} }
func (discard) Write(bytes []byte) (int, error) { return len(bytes), nil }
func (discard) WriteHeader(int)                 {}

// A path that matches a template.
func (t Templates) path(template string) string {
	segments := strings.Split(template, "/")
	for at, segment := range segments {
		if t == Braces && strings.HasPrefix(segment, "{") && segment != "{$}" || t == Colons && strings.HasPrefix(segment, ":") {
			segments[at] = "1"
		}
	}
	return strings.TrimSuffix(strings.Join(segments, "/"), "{$}")
}
