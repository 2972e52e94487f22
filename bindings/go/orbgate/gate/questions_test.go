package gate_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/orbgate/orbgate/bindings/go/orbgate"
	"github.com/orbgate/orbgate/bindings/go/orbgate/gate"
)

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
