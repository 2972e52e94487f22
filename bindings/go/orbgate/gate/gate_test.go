package gate_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/orbgate/orbgate/bindings/go/orbgate"
	"github.com/orbgate/orbgate/bindings/go/orbgate/gate"
)

// A writer, a handler of logs and a transport that fail.
type broken struct{ logged *atomic.Int32 }

func (broken) Write([]byte) (int, error) { panic("the disk is full") }

func (broken) RoundTrip(*http.Request) (*http.Response, error) { panic("no way") }

func (broken) Enabled(context.Context, slog.Level) bool { return true }

func (b broken) WithAttrs([]slog.Attr) slog.Handler { return b }

func (b broken) WithGroup(string) slog.Handler { return b }

func (b broken) Handle(context.Context, slog.Record) error {
	b.logged.Add(1)
	panic("the disk is full")
}

func TestNoAnswerDependsOnHooks(t *testing.T) {
	i := newIssuer(t)
	fails := broken{new(atomic.Int32)}
	fail := func(*http.Request) bool { panic("an error") }
	protect := newGate(t, i, gate.Config{
		Logger: slog.New(fails), Audit: fails, BonusOrbs: fail, Count: func(string, ...gate.Label) { panic("an error") },
	})
	server := httptest.NewServer(protect.Middleware(http.HandlerFunc(service)))
	defer server.Close()
	good := bearer(i.token(t, "rsa", nil))
	for range 2 {
		for headers, status := range map[string]int{good: 200, "A: b": 401} {
			if got := call(t, server, "GET", orbs, headers); got.status != status {
				t.Errorf("%s: %+v", headers, got)
			}
		}
	}
	if protect.Reload("/nowhere") == nil {
		t.Error("it is loaded")
	}
	// How it charges, Audit, Count, BonusOrbs and the reload, each once.
	if logged := fails.logged.Load(); logged != 5 {
		t.Errorf("%d are logged", logged)
	}
	router := newGate(t, i, gate.Config{Template: func(*http.Request) string { panic("an error") }})
	unknown := httptest.NewServer(router.Middleware(http.HandlerFunc(service)))
	defer unknown.Close()
	if got := call(t, unknown, "GET", orbs, good); got.status != 404 {
		t.Errorf("without a template: %+v", got)
	}
	without := newGate(t, i, gate.Config{Logger: slog.New(fails), Client: &http.Client{Transport: fails}})
	request := gate.Request{Method: "GET", Target: orbs, Authorization: []string{strings.TrimPrefix(good, "Authorization: ")}}
	if got := without.Ask(t.Context(), request); got.Refused != "no_keys" {
		t.Errorf("without keys: %+v", got)
	}
}

func TestABodyAllowsBonusOrbs(t *testing.T) {
	i := newIssuer(t)
	var decisions atomic.Int32
	var audit bytes.Buffer
	protect := newGate(t, i, gate.Config{BonusFromBody: 64, Audit: &audit, Count: func(name string, labels ...gate.Label) { decisions.Add(1) }})
	server := httptest.NewServer(protect.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		call, _ := gate.From(r.Context())
		charge, _ := call.Decision.Charge()
		fmt.Fprintf(w, "%v %v %s", charge.BonusAllowed, err, body)
	})))
	defer server.Close()
	const run = "/api/v1/external/voxies/prompt/run"
	token := i.token(t, "rsa", map[string]any{"scope": "write:voxies"})
	pad := strings.Repeat(" ", 64)
	for body, allows := range map[string]bool{
		`{"allowBonusOrbsUse":true}`: true, `{"allowBonusOrbsUse":false}`: false, `{"allowBonusOrbsUse":true`: false, "": false,
		`{"allowBonusOrbsUse":true}` + pad[26:]: true, `{"allowBonusOrbsUse":true}` + pad: false,
	} {
		for _, length := range []int64{int64(len(body)), -1} {
			request, err := http.NewRequest("POST", server.URL+run, io.NopCloser(strings.NewReader(body)))
			if err != nil {
				t.Fatal(err)
			}
			request.ContentLength = length
			request.Header.Set("Authorization", "Bearer "+token)
			response, err := server.Client().Do(request)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(response.Body)
			response.Body.Close()
			if string(text) != fmt.Sprintf("%v <nil> %s", allows, body) {
				t.Errorf("%q, %d: %s", body, length, text)
			}
		}
	}
	if decisions.Load() != 12 {
		t.Errorf("%d decisions", decisions.Load())
	}
	allowed, refused := strings.Count(audit.String(), `"bonus_allowed":true`), strings.Count(audit.String(), `"bonus_allowed":false`)
	if allowed != 4 || refused != 8 {
		t.Error(audit.String())
	}
	// A denied body is not read.
	denied := httptest.NewRequest("POST", run, iotest.ErrReader(errors.New("read")))
	if answer := protect.AskHTTP(denied); answer.Status != 401 {
		t.Error(answer)
	}
	if body, err := io.ReadAll(denied.Body); len(body) != 0 || err == nil || err.Error() != "read" {
		t.Error(err)
	}
}

// More of them than an instance of the engine has room for.
func TestARequestMayHaveManyHeaders(t *testing.T) {
	i := newIssuer(t)
	protect := newGate(t, i, gate.Config{})
	names := make([]string, 10_000)
	for at := range names {
		names[at] = fmt.Sprint("x-", at)
	}
	request := gate.Request{Method: "POST", Target: orbs, Authorization: []string{"Bearer " + i.token(t, "ec", nil)}, HeaderNames: names}
	if reason := protect.Ask(t.Context(), request).Decision.Reason(); reason != orbgate.ReasonMethodNotDeclared {
		t.Error(reason)
	}
	request.Upgrade, request.Origin, request.AccessControlRequestMethod = slices.Repeat([]string{"foo"}, 999), names[:999], []string{"PUT", ""}
	if reason := protect.Ask(t.Context(), request).Decision.Reason(); reason != orbgate.ReasonMethodNotDeclared {
		t.Error(reason)
	}
	request.Upgrade[998] = "bar, h2c"
	if decision := protect.Ask(t.Context(), request).Decision; decision.Detail() != orbgate.DetailUpgrade {
		t.Error(decision)
	}
	request.Upgrade = nil
	names[9_999] = "x-http-method-override"
	if reason := protect.Ask(t.Context(), request).Decision.Reason(); reason != orbgate.ReasonMalformedRequest {
		t.Error(reason)
	}
}

func TestAPublicRouteNeedsNoToken(t *testing.T) {
	i := newIssuer(t)
	config := gate.Config{Public: []string{"GET /healthz", "GET /docs/{page}"}, CorsPreflight: true}
	protect := newGate(t, i, config)
	mux := http.NewServeMux()
	mux.Handle("GET /healthz", gate.HandlerFunc(func(w http.ResponseWriter, _ *http.Request, call gate.Call) {
		fmt.Fprint(w, call.Decision.Reason(), call.Token.Kind, call.Token.Subject)
	}))
	mux.HandleFunc("GET /docs/{$}", service)
	server := httptest.NewServer(protect.Mux(mux))
	defer server.Close()
	expected := fmt.Sprint(orbgate.ReasonPublicRoute, orbgate.KindNone)
	if got := call(t, server, "GET", "/healthz", bearer("nonsense")); got.status != 200 || got.body != expected {
		t.Errorf("%+v", got)
	}
	for target, status := range map[string]int{"/docs/a": 404, "/healthz/": 400, orbs: 401} {
		if got := call(t, server, "GET", target); got.status != status {
			t.Errorf("%s: %+v", target, got)
		}
	}
	ask := func(request gate.Request) gate.Answer { return protect.Ask(t.Context(), request) }
	preflight := gate.Request{Method: "OPTIONS", Target: orbs, Origin: []string{"https://a.example"}, AccessControlRequestMethod: []string{"GET"}}
	if answer := ask(preflight); !answer.IsAllow() || !answer.Preflight {
		t.Errorf("%+v", answer)
	}
	preflight.AccessControlRequestMethod[0] = "DELETE"
	if answer := ask(preflight); answer.HTTPStatus() != 401 || answer.Preflight {
		t.Errorf("%+v", answer)
	}
	if answer := ask(gate.Request{Method: "GET", Target: "/healthz"}); !answer.IsAllow() || answer.Preflight {
		t.Errorf("%+v", answer)
	}
	if answer := ask(gate.Request{Method: "GET", Target: "/docs/a", Routed: true, Template: "/docs/{any}"}); answer.PublicTemplate != "/docs/{page}" {
		t.Errorf("%+v", answer)
	}
	// A browser's question reaches the handler that answers it.
	mux.HandleFunc("OPTIONS "+orbs, func(w http.ResponseWriter, r *http.Request) {
		if call, _ := gate.From(r.Context()); call.Preflight {
			w.WriteHeader(http.StatusNoContent)
		}
	})
	if got := call(t, server, "OPTIONS", orbs, "Origin: https://a.example", "Access-Control-Request-Method: GET"); got.status != 204 {
		t.Errorf("%+v", got)
	}
	differences := new(gate.RoutesError)
	if err := protect.CheckMux(mux); !errors.As(err, &differences) || differences.Undeclared != nil || !slices.Contains(differences.Unserved, "GET /docs/{page}") {
		t.Errorf("%v", err)
	}
	policy := "orbgate: 1\napis: { a: { base_path: '', scopes: { s: { orbs: false, routes: ['POST /{any}'] } } } }\n...\n"
	engine, err := orbgate.FromYAML(policy)
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	config.Policy, config.Tokens = orbgate.NewHandle(engine), i.tokens()
	if _, err := gate.New(config); err == nil || !strings.Contains(err.Error(), "same paths") {
		t.Errorf("%v", err)
	}
}

func TestARouterIsComparedWithThePolicy(t *testing.T) {
	i := newIssuer(t)
	var misrouted sync.Map
	protect := newGate(t, i, gate.Config{Template: gate.Pattern, Count: func(name string, labels ...gate.Label) {
		if name == "orbgate_misrouted_total" {
			misrouted.Store(fmt.Sprint(labels), true)
		}
	}})
	mux := http.NewServeMux()
	handler := protect.Middleware(http.HandlerFunc(service))
	mux.Handle("GET /api/v1/external/voxies/{id}", handler)
	mux.Handle("GET /api/v1/external/voxies/export", handler)
	mux.Handle("/", handler)
	server := httptest.NewServer(mux)
	defer server.Close()
	token := bearer(i.token(t, "ec", map[string]any{"scope": "read:voxies read:orbs"}))
	for target, status := range map[string]int{"/voxies/7": 200, "/voxies/export": 404, "/orbs": 404} {
		if got := call(t, server, "GET", "/api/v1/external"+target, token); got.status != status {
			t.Errorf("%s: %v", target, got)
		}
	}
	// The same labels as in every language: the route that the policy allows it by, and where the router went.
	for _, labels := range []string{
		"[{route GET /api/v1/external/voxies/{voxieId}} {matched /api/v1/external/voxies/export}]",
		"[{route GET /api/v1/external/orbs} {matched /}]",
	} {
		if _, ok := misrouted.LoadAndDelete(labels); !ok {
			t.Errorf("not counted: %s", labels)
		}
	}
	misrouted.Range(func(labels, _ any) bool {
		t.Errorf("counted: %s", labels)
		return true
	})
	err := protect.CheckRoutes([]gate.Route{{"GET", "/api/v1/external/voxies/export"}, {"GET", "/api/v1/external/voxies/{id:[0-9]+}"}})
	var differ *gate.RoutesError
	if !errors.As(err, &differ) || len(differ.Undeclared) != 1 || differ.Undeclared[0].DecidedAs != "GET /api/v1/external/voxies/{voxieId}" {
		t.Fatalf("%v", err)
	}
	engine, err := orbgate.External()
	if err != nil || len(differ.Unserved) != engine.RouteCount()-1 {
		t.Errorf("%v %d", err, len(differ.Unserved))
	}
}

func TestAConfigurationWithErrorsIsRefused(t *testing.T) {
	engine, err := orbgate.External()
	if err != nil {
		t.Fatal(err)
	}
	handle := orbgate.NewHandle(engine)
	_, err = gate.New(gate.Config{Policy: handle, Tokens: "orbgate_token: 1\nissuers:\n  - issuer: ''\n    audience: ''\n    kind: user\n"})
	var failure *orbgate.Error
	if !errors.As(err, &failure) || len(failure.Diagnostics) != 2 || failure.Diagnostics[0].Line != 3 || !errors.Is(err, orbgate.StatusInvalidConfiguration) {
		t.Errorf("%v", err)
	}
	for _, challenge := range []gate.Challenge{{Full: true, Realm: "\""}, {Realm: "orbs"}} {
		if _, err := gate.New(gate.Config{Policy: handle, Tokens: newIssuer(t).tokens(), Challenge: challenge}); err == nil {
			t.Errorf("%+v", challenge)
		}
	}
	if _, err := gate.New(gate.Config{Tokens: newIssuer(t).tokens()}); err == nil {
		t.Error("a gate without a policy")
	}
	missing := filepath.Join(t.TempDir(), "missing.yaml")
	for _, files := range [][2]string{{missing, missing}, {"../../../../policy/external.yaml", missing}, {"../../../../policy/external.yaml", "gate.go"}, {"../../../../policy/external.yaml", "/dev/zero"}} {
		if _, err := gate.FromFiles(files[0], files[1]); err == nil || !strings.Contains(err.Error(), files[1]) {
			t.Errorf("%v: %v", files, err)
		}
	}
}
