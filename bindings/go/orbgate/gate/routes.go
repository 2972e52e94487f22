package gate

import (
	"strings"

	"github.com/orbgate/orbgate/bindings/go/orbgate/internal/steps"
)

// A Route is one of a service.
type Route struct{ Method, Template string }

// A RoutesError says how the routes of a service and those of its policy differ.
type RoutesError struct {
	// Undeclared are the routes that the policy lacks: no gate protects them.
	Undeclared []UndeclaredRoute
	// Unserved are those that the service lacks, which is harmless where several services share a policy.
	Unserved []string
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
	differences, err := steps.CheckRoutes(engine, methods, templates, uint32(g.config.Templates))
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
