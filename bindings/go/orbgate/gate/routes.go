package gate

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// A Route is one of a service.
type Route struct{ Method, Template string }

// A RoutesError says how the routes of a service and those of its policy differ.
type RoutesError struct {
	// Undeclared are the routes that the policy lacks: no gate protects them.
	Undeclared []UndeclaredRoute
	// Unserved are those that the service lacks, which is harmless if several services share a policy.
	Unserved []string
	// Ungated are those that [Gate.CheckHandler] could reach without the gate.
	Ungated []string
}

// An UndeclaredRoute is one that the policy lacks.
type UndeclaredRoute struct {
	Route string
	// DecidedAs is the policy's route that decides its requests; empty where they are denied.
	DecidedAs string
}

// Error has a line for each difference.
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

// CheckRoutes compares the routes of the service, as its router writes them, with those of the policy: call it at the start, and in
// tests. The error is a [*RoutesError].
func (g *Gate) CheckRoutes(routes []Route) error {
	var methods, templates []string
	for _, route := range routes {
		methods, templates = append(methods, route.Method), append(templates, route.Template)
	}
	engine := g.config.Policy.Load()
	defer engine.Close()
	differences, err := g.raw.CheckRoutes(engine, methods, templates)
	if err != nil || len(differences) == 0 {
		return err
	}
	found := new(RoutesError)
	for _, difference := range differences {
		if difference.Undeclared {
			found.Undeclared = append(found.Undeclared, UndeclaredRoute{difference.Route, difference.DecidedAs})
		} else {
			found.Unserved = append(found.Unserved, difference.Route)
		}
	}
	return found
}

// CheckMux compares a mux with the policy: call it at the start, and in tests. A mux does not list its patterns, so this looks up each route
// of the policy in it. The error, a [*RoutesError], has the routes that the mux lacks, and the patterns that it chooses instead of the
// policy's template. A pattern that none of these requests reaches is denied when it is called.
func (g *Gate) CheckMux(mux *http.ServeMux) error {
	engine := g.config.Policy.Load()
	defer engine.Close()
	var routes []Route
	seen := map[Route]bool{}
	var declared []Route
	for _, route := range engine.Routes() {
		declared = append(declared, Route{route.Method, route.Template})
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

// CheckHandler compares the routes of the service with those of the policy, as [Gate.CheckRoutes] does, and sends a request for each of them
// through the handler that the service serves, to find the routes that the gate does not see. Call it in a test: a handler that no gate
// protects runs, without a token, with 1 for each parameter. The handlers of the others do not run.
func (g *Gate) CheckHandler(handler http.Handler, routes []Route) error {
	err := g.CheckRoutes(routes)
	found := new(RoutesError)
	if err != nil && !errors.As(err, &found) {
		return err
	}
	for _, route := range routes {
		probe := new(probe)
		path := g.config.Templates.path(route.Template)
		request := &http.Request{Method: route.Method, URL: &url.URL{Path: path}, RequestURI: path, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: http.Header{}, Body: http.NoBody, Host: "localhost", RemoteAddr: "127.0.0.1:1"}
		handler.ServeHTTP(discard{}, request.WithContext(context.WithValue(context.Background(), probeKey{}, probe)))
		if probe.seenBy != g {
			found.Ungated = append(found.Ungated, route.Method+" "+route.Template)
		}
	}
	if err == nil && found.Ungated == nil {
		return nil
	}
	return found
}

// Which gate has seen a request of CheckHandler.
type probe struct{ seenBy *Gate }

type probeKey struct{}

type discard struct{}

func (discard) Header() http.Header             { return http.Header{} }
func (discard) Write(bytes []byte) (int, error) { return len(bytes), nil }
func (discard) WriteHeader(int)                 {}

// A path that fits a template.
func (t Templates) path(template string) string {
	segments := strings.Split(template, "/")
	for at, segment := range segments {
		if t == Braces && strings.HasPrefix(segment, "{") && segment != "{$}" || t == Colons && strings.HasPrefix(segment, ":") {
			segments[at] = "1"
		}
	}
	return strings.TrimSuffix(strings.Join(segments, "/"), "{$}")
}
