package gate_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orbgate/orbgate/bindings/go/orbgate"
	"github.com/orbgate/orbgate/bindings/go/orbgate/gate"
)

// An introspection endpoint, which knows one client.
type endpoint struct {
	*httptest.Server
	asked atomic.Int32
	// How many it is asked about at once.
	now, most atomic.Int32
}

func newEndpoint(t *testing.T) *endpoint {
	t.Helper()
	e := new(endpoint)
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.asked.Add(1)
		now := e.now.Add(1)
		defer e.now.Add(-1)
		for most := e.most.Load(); now > most && !e.most.CompareAndSwap(most, now); most = e.most.Load() {
		}
		body, _ := io.ReadAll(r.Body)
		client, secret, _ := r.BasicAuth()
		form := r.Header.Get("Content-Type") == "application/x-www-form-urlencoded"
		if r.Method != "POST" || !form || client != "my-api" || secret != "s3cret" {
			w.WriteHeader(401)
			return
		}
		token, _ := strings.CutPrefix(strings.Split(string(body), "&")[0], "token=")
		switch {
		case strings.HasPrefix(token, "good"):
			time.Sleep(5 * time.Millisecond)
			fmt.Fprintf(w, `{"active":true,"aud":"api","exp":%d,"sub":"user-7","scope":"read:orbs"}`, time.Now().Unix()+600)
		case token == "redirect":
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		case token == "huge":
			w.Write(bytes.Repeat([]byte(" "), 300_000))
		default:
			io.WriteString(w, `{"active":false}`)
		}
	}))
	t.Cleanup(e.Close)
	return e
}

func opaque(e *endpoint, secret string) string {
	return fmt.Sprintf("orbgate_token: 1\nissuers:\n  - issuer: %s/issuer\n    audience: api\n    kind: user\n"+
		"    opaque: { endpoint: '%s/introspect', client_id: my-api, %s }\n", e.URL, e.URL, secret)
}

func opaqueGate(t *testing.T, tokens string, log io.Writer) (*gate.Gate, error) {
	t.Helper()
	engine, err := orbgate.External()
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	logger := slog.New(slog.NewTextHandler(log, nil))
	protect, err := gate.New(gate.Config{Policy: orbgate.NewHandle(engine), Tokens: tokens, Logger: logger})
	if err == nil {
		t.Cleanup(func() { protect.Close() })
	}
	return protect, err
}

func TestAnOpaqueTokenIsAskedAbout(t *testing.T) {
	e := newEndpoint(t)
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("ORBGATE_TEST_SECRET", "s3cret")
	for _, source := range []string{"client_secret_env: ORBGATE_TEST_SECRET", "client_secret_file: " + file} {
		var log bytes.Buffer
		protect, err := opaqueGate(t, opaque(e, source), &log)
		if err != nil {
			t.Fatal(err)
		}
		if err := protect.Warm(t.Context()); err != nil {
			t.Error(err)
		}
		ask := func(token, target string) (int, string) {
			found := protect.Ask(t.Context(), gate.Request{Method: "GET", Target: target, Authorization: []string{"Bearer " + token}})
			if found.IsAllow() != (found.HTTPStatus() == 0) {
				t.Errorf("%+v", found)
			}
			return found.HTTPStatus(), found.Refused
		}
		for _, row := range []struct {
			token, target string
			status        int
			refused       string
		}{
			{"good", orbs, 0, ""},
			{"good", "/api/v1/external/account", 403, ""},
			{"bad", orbs, 401, "inactive"},
			{"redirect", orbs, 401, "unanswered"},
			{"huge", orbs, 401, "unanswered"},
		} {
			before := e.asked.Load()
			status, refused := ask(row.token, row.target)
			if status != row.status || refused != row.refused {
				t.Errorf("%s: %s: %d %s", source, row.token, status, refused)
			}
			asked := e.asked.Load() - before
			if row.status == 403 && asked != 0 || row.status != 403 && asked != 1 {
				t.Errorf("%s: asked %d times", row.token, asked)
			}
		}
		status := protect.Status()
		if len(status) != 1 || !status[0].Opaque || status[0].Keys != 0 {
			t.Errorf("%+v", status)
		}
		if logged := log.String(); !strings.Contains(logged, "opaque token") || strings.Contains(logged, "s3cret") || strings.Contains(logged, "huge") {
			t.Error(logged)
		}
	}
}

func TestManyOpaqueTokensAreAskedAboutInTurn(t *testing.T) {
	e := newEndpoint(t)
	t.Setenv("ORBGATE_TEST_SECRET", "s3cret")
	protect, err := opaqueGate(t, opaque(e, "client_secret_env: ORBGATE_TEST_SECRET"), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	var asking sync.WaitGroup
	for number := range 40 {
		asking.Add(1)
		go func() {
			defer asking.Done()
			bearer := fmt.Sprintf("Bearer good-%d", number)
			if found := protect.Ask(t.Context(), gate.Request{Method: "GET", Target: orbs, Authorization: []string{bearer}}); !found.IsAllow() {
				t.Errorf("%+v", found)
			}
		}()
	}
	asking.Wait()
	if asked, most := e.asked.Load(), e.most.Load(); asked != 40 || most > 32 {
		t.Errorf("asked %d times, %d at once", asked, most)
	}
}

func TestReloadReadsTheSecretsAgain(t *testing.T) {
	e := newEndpoint(t)
	folder := t.TempDir()
	secret, policy := filepath.Join(folder, "secret"), filepath.Join(folder, "policy.yaml")
	write := func(file, text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile("../../../../policy/external.yaml")
	if err != nil {
		t.Fatal(err)
	}
	write(policy, string(text))
	write(secret, "another\n")
	protect, err := opaqueGate(t, opaque(e, "client_secret_file: "+secret), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(token string) string {
		found := protect.Ask(t.Context(), gate.Request{Method: "GET", Target: orbs, Authorization: []string{"Bearer " + token}})
		return found.Refused
	}
	if refused := ask("good"); refused != "unanswered" || !strings.HasSuffix(protect.Status()[0].Failure, " 401") {
		t.Errorf("%q, %+v", refused, protect.Status())
	}
	write(secret, "s3cret\n")
	if refused := ask("good-1"); refused != "unanswered" {
		t.Errorf("read without a reload: %q", refused)
	}
	if err := protect.Reload(policy); err != nil {
		t.Fatal(err)
	}
	if refused := ask("good-2"); refused != "" {
		t.Error(refused)
	}
	// A secret that can't be read changes nothing: neither the policy nor the secrets.
	for number, unreadable := range []string{"", "hidden\xff"} {
		write(secret, unreadable)
		write(policy, "orbgate: 1\nname: other\napis: {}\n...\n")
		err := protect.Reload(policy)
		if err == nil || !strings.Contains(err.Error(), "`client_secret_file` "+secret) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%q: %v", unreadable, err)
		}
		if refused := ask(fmt.Sprintf("good-%d", 3+number)); refused != "" {
			t.Error(refused)
		}
	}
	// The policy is checked before the secrets are read.
	var results []string
	strict := gate.Config{Tokens: opaque(e, "client_secret_env: ORBGATE_TEST_SECRET"), RefuseWider: true, Policy: new(orbgate.Handle),
		Count: func(_ string, labels ...gate.Label) { results = append(results, labels[0].Value) }}
	nothing, err := orbgate.FromFile(policy)
	if err != nil {
		t.Fatal(err)
	}
	strict.Policy.Store(nothing)
	t.Setenv("ORBGATE_TEST_SECRET", "s3cret")
	refusing, err := gate.New(strict)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("ORBGATE_TEST_SECRET", "")
	if err := refusing.Reload("../../../../policy/external.yaml"); err == nil || !slices.Equal(results, []string{"wider"}) {
		t.Error(err, results)
	}
	if err := os.Remove(secret); err != nil {
		t.Fatal(err)
	}
	if err := protect.Reload(policy); err == nil || !strings.Contains(err.Error(), "`client_secret_file` "+secret) {
		t.Error(err)
	}
	protect.Close()
	if err := protect.Reload(policy); err == nil {
		t.Error("a closed gate is reloaded")
	}
}

func TestASecretThatCannotBeReadIsNamed(t *testing.T) {
	e := newEndpoint(t)
	folder := t.TempDir()
	empty, binary := filepath.Join(folder, "empty"), filepath.Join(folder, "binary")
	for file, bytes := range map[string]string{empty: "", binary: "hidden\xff"} {
		if err := os.WriteFile(file, []byte(bytes), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for source, expected := range map[string]string{
		"client_secret_env: ORBGATE_NO_SUCH_VARIABLE":            "`client_secret_env` ORBGATE_NO_SUCH_VARIABLE: ",
		"client_secret_file: " + filepath.Join(folder, "nobody"): "nobody: ",
		"client_secret_file: " + empty:                           " empty",
		"client_secret_file: " + binary:                          "UTF-8",
	} {
		_, err := opaqueGate(t, opaque(e, source), io.Discard)
		if err == nil || !strings.Contains(err.Error(), expected) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v", source, err)
		}
	}
}
