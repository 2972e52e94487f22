package gate_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orbgate/orbgate/bindings/go/orbgate"
	"github.com/orbgate/orbgate/bindings/go/orbgate/gate"
)

func TestAWiderPolicyIsRefusedOnRequest(t *testing.T) {
	const narrow = "orbgate: 1\napis: { a: { base_path: '', scopes: { 'read:a': { orbs: false, routes: [GET /a] } } } }\n...\n"
	for _, refuses := range []bool{true, false} {
		engine, err := orbgate.FromYAML(narrow)
		if err != nil {
			t.Fatal(err)
		}
		handle := orbgate.NewHandle(engine)
		var results []string
		protect := newGate(t, newIssuer(t), gate.Config{Policy: handle, RefuseWider: refuses, Count: func(_ string, labels ...gate.Label) {
			results = append(results, labels[0].Value)
		}})
		file := filepath.Join(t.TempDir(), "policy.yaml")
		reload := func(text string) error {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return protect.Reload(file)
		}
		for _, text := range []string{narrow, strings.Replace(narrow, "apis", "headings: [More]\napis", 1)} {
			if err := reload(text); err != nil {
				t.Error(err)
			}
		}
		err = reload(strings.Replace(narrow, "GET /a", "GET /a, GET /b", 1))
		now := handle.Load()
		isWider := now.Decide("GET", "/b", orbgate.UserToken("read:a")).IsAllow()
		if isWider == refuses || (err != nil) != refuses {
			t.Errorf("%v: %v", refuses, err)
		}
		if refuses && (!strings.HasSuffix(err.Error(), "the policy allows more than the former: 1 wider") || results[2] != "wider") {
			t.Errorf("%v %v", err, results)
		}
		now.Close()
		engine.Close()
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
		var reasons []string
		for _, line := range strings.Split(logged.String(), "\n") {
			var row struct {
				Message     string `json:"msg"`
				Path        string
				Explanation struct{ Reason string }
			}
			if json.Unmarshal([]byte(line), &row) == nil && row.Message == "a call is denied" {
				reasons = append(reasons, row.Explanation.Reason)
			}
		}
		if got := strings.Join(reasons, " "); got != map[bool]string{true: "scope_missing invalid_token", false: ""}[debugs] {
			t.Errorf("%v: %s", debugs, logged.String())
		}
		for _, secret := range []string{"secret", "nonsense", "eyJ"} {
			if strings.Contains(logged.String(), secret) {
				t.Errorf("%s is logged: %s", secret, logged.String())
			}
		}
	}
}
