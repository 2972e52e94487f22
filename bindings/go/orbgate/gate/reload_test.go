package gate_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/orbgate/orbgate/bindings/go/orbgate"
	"github.com/orbgate/orbgate/bindings/go/orbgate/gate"
)

// What comes of each version, also of a file that is followed, the exchanges of every language show.
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

func TestAGateWithoutAPolicyDenies(t *testing.T) {
	i := newIssuer(t)
	protect := newGate(t, i, gate.Config{Policy: new(orbgate.Handle)})
	if answer := protect.Ask(t.Context(), gate.Request{Method: "GET", Target: "/a"}); answer.IsAllow() || answer.Err == nil {
		t.Errorf("%+v", answer)
	}
	if protect.Watch("policy.yaml", 0) == nil {
		t.Error("there is no interval")
	}
}
