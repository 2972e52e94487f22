package gate_test

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/orbgate/orbgate/bindings/go/orbgate"
	"github.com/orbgate/orbgate/bindings/go/orbgate/gate"
)

func TestWhyAPolicyIsNotReloaded(t *testing.T) {
	i := newIssuer(t)
	file := filepath.Join(t.TempDir(), "policy.yaml")
	if err := newGate(t, i, gate.Config{}).Reload(file); !errors.Is(err, orbgate.ErrIO) || !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	const policy = "orbgate: 1\napis: { a: { base_path: '', scopes: { 'read:a': { orbs: false, routes: [GET /a] } } } }\n...\n"
	if err := os.WriteFile(file, []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	for why, config := range map[string]gate.Config{"sha256": {RequireSeal: true}, " wider, ": {RefuseWider: true}, "same paths": {Public: []string{"GET /{any}"}}} {
		var failure *orbgate.Error
		if err := newGate(t, i, config).Reload(file); !errors.As(err, &failure) || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", why, err)
		}
	}
}

type lines chan string

func (l lines) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

func TestAFileIsFollowed(t *testing.T) {
	const policy = "orbgate: 1\napis: { a: { base_path: '', scopes: { 'read:a': { orbs: false, routes: [%s] } } } }\n...\n"
	file, counted := filepath.Join(t.TempDir(), "policy.yaml"), make(chan string, 100)
	write := func(text string) {
		if err := errors.Join(os.WriteFile(file+".new", []byte(text), 0o600), os.Rename(file+".new", file)); err != nil {
			t.Fatal(err)
		}
	}
	write(fmt.Sprintf(policy, "GET /a"))
	engine, err := orbgate.FromFile(file)
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	log := make(lines, 100)
	protect := newGate(t, newIssuer(t), gate.Config{
		Policy: orbgate.NewHandle(engine), Logger: slog.New(slog.NewTextHandler(log, nil)),
		Count: func(_ string, labels ...gate.Label) { counted <- labels[0].Value },
	})
	_ = protect.CheckRoutes([]gate.Route{{Method: "GET", Template: "/a"}, {Method: "GET", Template: "/b"}})
	if protect.Watch(file, 0) == nil {
		t.Error("there is no interval")
	}
	if err := protect.Watch(file, 10*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ text, result, said string }{
		{fmt.Sprintf(policy, "GET /a, 'GET /{any}'"), "loaded", "1 wider, 0 narrower, 0 removed"},
		{"orbgate: 2\napis: {}\n...\n", "refused", file + ":1:10: "},
		{"orbgate: 1\napis: {}\n", "unfinished", "does not end in a line"},
		{"orbgate: 1\napis: {}\n...\n", "loaded", "every request that needs a token is denied"},
	} {
		write(row.text)
		result, said := <-counted, ""
		for len(log) > 0 { // it logs first
			said += <-log
		}
		if result != row.result || !strings.Contains(said, row.said) {
			t.Errorf("%s: %s\n%s", row.text, result, said)
		}
	}
}

func TestAPolicyIsReplaced(t *testing.T) {
	i := newIssuer(t)
	const policy = "orbgate: 1\napis: { a: { base_path: '', scopes: { %s: { orbs: false, routes: [GET /a] } } } }\n"
	handle := new(orbgate.Handle)
	protect := newGate(t, i, gate.Config{Policy: handle})
	request := gate.Request{Method: "GET", Target: "/a", Authorization: []string{"Bearer " + i.token(t, "ec", nil)}}
	if answer := protect.Ask(t.Context(), request); answer.IsAllow() || answer.Err == nil {
		t.Errorf("without a policy: %+v", answer)
	}
	for _, row := range []struct {
		scope  string
		status int
	}{{"read:orbs", 0}, {"write:a", 403}, {"read:orbs", 0}} {
		engine, err := orbgate.FromYAML(fmt.Sprintf(policy, row.scope))
		if err != nil {
			t.Fatal(err)
		}
		handle.Store(engine)
		engine.Close()
		if answer := protect.Ask(t.Context(), request); answer.HTTPStatus() != row.status || answer.Decision.Scope() != row.scope {
			t.Errorf("%s: %+v", row.scope, answer)
		}
	}
}
