package orbgate

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Every route of the table, with what the table and decisions say of it.
func TestRoutesAreThoseOfTheTable(t *testing.T) {
	for _, text := range []string{string(must(os.ReadFile(filepath.Join("..", "..", "..", "policy", "external.yaml")))(t)), five, empty, shared} {
		engine := must(FromYAML(text))(t)
		routes := engine.Routes()
		var got []string
		for index, route := range routes {
			if id := must(engine.FindRoute(route.Method, route.Template))(t); id != route.ID || route.Number != index+1 {
				t.Errorf("the id or number of %+v", route)
			}
			decision := engine.DecideRoute(route.ID, UserToken(route.Scope))
			words := must(decision.Words())(t)
			if !decision.IsAllow() || decision.RouteNumber() != route.Number || words.API != route.API || words.Route != route.Method+" "+route.Template {
				t.Errorf("%+v is decided as %+v", route, words)
			}
			charge, stated := route.Charge()
			if decided, has := decision.Charge(); charge != decided || stated != has {
				t.Errorf("%+v charges %+v", route, decided)
			}
			if !slices.Contains(route.Methods, route.Method) || !slices.IsSorted(route.Methods) {
				t.Errorf("%+v", route)
			}
			line := strings.Split(text, "\n")[route.Line-1]
			if !strings.Contains(line[route.Column-1:], route.Method+" ") {
				t.Errorf("%+v is not in %q", route, line)
			}
			got = append(got, route.API+" "+route.Scope+" "+route.Method+" "+route.Template)
		}
		want, scopes := tableOf(t, engine)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) || engine.RouteCount() != len(want) || engine.ScopeCount() != scopes {
			t.Errorf("%d routes and %d scopes, not %d and %d", engine.RouteCount(), engine.ScopeCount(), len(want), scopes)
		}
	}
}

// Two apis with one scope.
const shared = "orbgate: 1\napis:\n  b:\n    base_path: /b\n    scopes:\n      read:x:\n        orbs: false\n        routes: [GET /x]\n" +
	"  a:\n    base_path: /a\n    scopes:\n      read:x:\n        orbs: false\n        routes: [GET /x]\n"

// The routes and the number of scopes that the table has.
func tableOf(t *testing.T, engine *Engine) (routes []string, scopes int) {
	names := make(map[string]bool)
	for _, api := range must(engine.Table())(t).Apis {
		for _, scope := range api.Scopes {
			names[scope.Scope] = true
			for _, route := range scope.Routes {
				routes = append(routes, api.Name+" "+scope.Scope+" "+route.Method+" "+route.Template)
			}
		}
	}
	return routes, len(names)
}

func TestRoutesAreTheCallers(t *testing.T) {
	engine := mustExternal(t)
	before, again := engine.Routes(), engine.Routes()
	clear(before[0].Methods)
	before[1] = Route{}
	if again[0].Methods[0] == "" || engine.Routes()[0].Methods[0] == "" || engine.Routes()[1].Number != 2 {
		t.Error("a change of the answer changed the engine")
	}
	engine.Close()
	if last := again[len(again)-1]; last.Template == "" || last.Scope == "" {
		t.Error("a route does not outlive its engine")
	}
}

func TestAPolicyHasAName(t *testing.T) {
	for text, name := range map[string]string{
		empty:                     "",
		empty + "name: billing\n": "billing",
		empty + "name: büro\n":    "büro",
	} {
		if got := must(FromYAML(text))(t).Name(); got != name {
			t.Errorf("%q, not %q", got, name)
		}
	}
}

func TestNoPolicyHasNoRoutesAndNoName(t *testing.T) {
	closed := mustExternal(t)
	closed.Close()
	for name, engine := range map[string]*Engine{"closed": closed, "nil": nil, "zero": {}} {
		if engine.Routes() != nil || engine.RouteCount() != 0 || engine.ScopeCount() != 0 || engine.Name() != "" {
			t.Errorf("%s has something", name)
		}
	}
}

// What each route needs: any of its alternatives, whole. Closed templates are no routes.
func TestRoutesListWhatTheyNeed(t *testing.T) {
	text := must(os.ReadFile(filepath.Join("..", "..", "..", "policy", "cases", "policies", "requirements.yaml")))(t)
	engine := must(FromYAML(string(text)))(t)
	for _, route := range engine.Routes() {
		if route.Scopes[0][0] != route.Scope {
			t.Errorf("%+v", route)
		}
		for _, alternative := range route.Scopes {
			decision := engine.DecideRoute(route.ID, UserToken(strings.Join(alternative, " ")))
			if !decision.IsAllow() || decision.Scope() != route.Scope {
				t.Errorf("%v: %v", alternative, decision)
			}
			// A decision lists the alternatives, also in its JSON, unless the call needs just the scope.
			needed := route.Scopes
			if len(needed) == 1 && len(needed[0]) == 1 {
				needed = nil
			}
			var document struct{ Scopes [][]string }
			text := must(json.Marshal(decision))(t)
			if err := json.Unmarshal(text, &document); err != nil || !reflect.DeepEqual(decision.Scopes(), needed) || !reflect.DeepEqual(document.Scopes, needed) {
				t.Errorf("%v: %s", needed, text)
			}
			for lacking := range alternative {
				rest := slices.Delete(slices.Clone(alternative), lacking, lacking+1)
				if decision := engine.DecideRoute(route.ID, UserToken(strings.Join(rest, " "))); decision.IsAllow() {
					t.Errorf("%v: %v", rest, decision)
				}
			}
		}
	}
	scopes := must(json.Marshal(engine.Decide("GET", "/r/orders", UserToken("")).Scopes()))(t)
	if string(scopes) != `[["read:orders"],["admin"],["audit:logs","read:logs"]]` {
		t.Errorf("%s", scopes)
	}
	for name, decision := range map[string]Decision{
		"no token":             engine.Decide("GET", "/r/orders", NoToken()),
		"by scope":             engine.DecideScope("read:orders", UserToken("read:orders")),
		"no declared method":   engine.Decide("PUT", "/r/orders", UserToken("read:orders")),
		"none of these routes": {},
	} {
		if decision.Scopes() != nil {
			t.Errorf("%s: %v", name, decision.Scopes())
		}
	}
	closed := engine.Decide("GET", "/r/closed", UserToken(""))
	if closed.Route() != "/r/closed" || closed.About() != "" || len(closed.DeclaredMethods()) != 0 || closed.RouteNumber() <= engine.RouteCount() {
		t.Errorf("%v", closed)
	}
}
