package gate_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orbgate/orbgate/bindings/go/orbgate"
	"github.com/orbgate/orbgate/bindings/go/orbgate/gate"
)

func TestPublicRoutesAndSlashesBelongToWhatIsCompared(t *testing.T) {
	policy := func(setting, routes string) string {
		return "orbgate: 1\n" + setting + "\napis: { a: { base_path: '', scopes: { s: { orbs: false, routes: [" + routes + "] } } } }\n...\n"
	}
	i := newIssuer(t)
	const usual, slash, escapes = "trailing_slash: never", "trailing_slash: always", "target: encoded_params"
	for _, row := range []struct{ active, next, public, why string }{
		{policy(slash, "GET /a"), policy(slash, "GET /a, GET /b"), "GET /docs/{page}", ": 1 wider"},
		{policy(slash, "GET /a"), policy(usual, "GET /a"), "GET /docs/{page}", ": 1 wider"},
		// Without routes, two policies decide alike, except for the gate's public routes.
		{policy(usual, ""), policy(slash, ""), "GET /docs/{page}", "`GET /docs/{page}/`"},
		{policy(slash, ""), policy(usual, ""), "GET /docs/{page}", "`GET /docs/{page}`"},
		{policy(usual, ""), policy(escapes, ""), "GET /docs/{page}", "public route"},
		{policy(usual, ""), policy(escapes, ""), "GET /healthz", ""},
		{policy(usual, ""), policy(slash, ""), "", ""},
	} {
		engine, err := orbgate.FromYAML(row.active)
		if err != nil {
			t.Fatal(err)
		}
		config := gate.Config{Policy: orbgate.NewHandle(engine), RefuseWider: true}
		if row.public != "" {
			config.Public = []string{row.public}
		}
		protect := newGate(t, i, config)
		file := filepath.Join(t.TempDir(), "policy.yaml")
		if err := os.WriteFile(file, []byte(row.next), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the gate works as before afterwards
			err = protect.Reload(file)
			var failure *orbgate.Error
			if (err != nil) != (row.why != "") || (err != nil) != errors.As(err, &failure) || err != nil && !strings.Contains(err.Error(), row.why) {
				t.Errorf("%+v: %v", row, err)
			}
			answer := protect.Ask(t.Context(), gate.Request{Method: "GET", Target: "/docs/a"})
			if answer.Err != nil {
				t.Errorf("%+v: %v", row, answer.Err)
			}
		}
		engine.Close()
	}
}

// Stores an engine at each fetch.
type storing struct {
	handle *orbgate.Handle
	engine *orbgate.Engine
}

func (s storing) RoundTrip(r *http.Request) (*http.Response, error) {
	s.handle.Store(s.engine)
	return http.DefaultTransport.RoundTrip(r)
}

// A policy is stored while the token waits for its keys, and another before the answer is observed.
func TestTheEngineThatDecidedExplains(t *testing.T) {
	engines := make([]*orbgate.Engine, 3)
	for at := range engines {
		engine, err := orbgate.FromYAML(strings.Replace("orbgate: 1\napis: { a: { base_path: '', scopes: { 'read:N': { orbs: false, routes: [GET /a] } } } }\n", "N", string(rune('0'+at)), 1))
		if err != nil {
			t.Fatal(err)
		}
		defer engine.Close()
		engines[at] = engine
	}
	handle := orbgate.NewHandle(engines[0])
	i := newIssuer(t)
	var logged bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	count := func(string, ...gate.Label) { handle.Store(engines[2]) }
	client := &http.Client{Transport: storing{handle, engines[1]}}
	protect := newGate(t, i, gate.Config{Policy: handle, Debug: true, Logger: logger, Count: count, Client: client})
	protect.Ask(t.Context(), gate.Request{Method: "GET", Target: "/a", Authorization: []string{"Bearer " + i.token(t, "rsa", nil)}})
	if !strings.Contains(logged.String(), engines[1].Digest()) || strings.Contains(logged.String(), engines[2].Digest()) {
		t.Error(logged.String())
	}
}

func TestADenialIsExplainedInTheLogOnRequest(t *testing.T) {
	i := newIssuer(t)
	for _, debugs := range []bool{true, false} {
		var logged bytes.Buffer
		logger := slog.New(slog.NewJSONHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
		protect := newGate(t, i, gate.Config{Debug: debugs, Logger: logger})
		right := "Bearer " + i.token(t, "rsa", nil)
		for _, asked := range []struct {
			target, token string
			status        int
		}{{orbs, right, 0}, {"/api/v1/external/account?secret=1", right, 403}, {orbs, "Bearer nonsense", 401}} {
			answer := protect.Ask(t.Context(), gate.Request{Method: "GET", Target: asked.target, Authorization: []string{asked.token}})
			if answer.Status != asked.status {
				t.Errorf("%+v: %+v", asked, answer)
			}
		}
		// The explanation gets neither headers nor the query, so a denial that they cause is logged as only the decision.
		wanted := []string{"scope_missing", "invalid_token"}
		for _, header := range []string{"Upgrade", "X-HTTP-Method-Override", ""} {
			request := gate.Request{Method: "GET", Target: orbs + "?secret", Authorization: []string{right}, HeaderNames: []string{header}}
			switch header {
			case "Upgrade":
				request.Upgrade = []string{"h2c"}
			case "":
				request.Target += "#"
			}
			answer := protect.Ask(t.Context(), request)
			decision, err := json.Marshal(answer.Decision)
			if answer.Status != 400 || err != nil {
				t.Errorf("%+v: %+v, %v", request, answer, err)
			}
			wanted = append(wanted, string(decision))
		}
		// The policy allows a misrouted request, so there is nothing to explain.
		misrouted := gate.Request{Method: "GET", Target: orbs, Authorization: []string{right}, Routed: true, Template: "/other"}
		if answer := protect.Ask(t.Context(), misrouted); answer.Status != 404 {
			t.Errorf("%+v", answer)
		}
		var reasons []string
		for _, line := range strings.Split(logged.String(), "\n") {
			var row struct {
				Message     string `json:"msg"`
				Path        string
				Explanation json.RawMessage
			}
			if json.Unmarshal([]byte(line), &row) == nil && row.Message == "a call is denied" {
				var whole struct {
					Reason string
					Rules  []any
				}
				if json.Unmarshal(row.Explanation, &whole) == nil && whole.Rules != nil {
					reasons = append(reasons, whole.Reason)
				} else {
					reasons = append(reasons, string(row.Explanation))
				}
			}
		}
		if got := strings.Join(reasons, " "); got != map[bool]string{true: strings.Join(wanted, " "), false: ""}[debugs] {
			t.Errorf("%v: %s", debugs, logged.String())
		}
		for _, secret := range []string{"secret", "nonsense", "eyJ"} {
			if strings.Contains(logged.String(), secret) {
				t.Errorf("%s is logged: %s", secret, logged.String())
			}
		}
	}
}
