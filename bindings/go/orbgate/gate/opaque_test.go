package gate_test

import (
	"testing"

	"github.com/orbgate/orbgate/bindings/go/orbgate"
	"github.com/orbgate/orbgate/bindings/go/orbgate/gate"
)

// What an endpoint is asked, and which tokens wait for their turn, the exchanges of every language show.
func TestAnIssuerOfOpaqueTokensHasNoKeys(t *testing.T) {
	t.Setenv("ORBGATE_TEST_SECRET", "s3cret")
	engine, err := orbgate.External()
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	protect, err := gate.New(gate.Config{Policy: orbgate.NewHandle(engine), Tokens: "orbgate_token: 1\nissuers:\n  - issuer: https://id.example\n    audience: api\n    kind: user\n" +
		"    opaque: { endpoint: 'https://id.example/introspect', client_id: my-api, client_secret_env: ORBGATE_TEST_SECRET }\n"})
	if err != nil {
		t.Fatal(err)
	}
	defer protect.Close()
	if err := protect.Warm(t.Context()); err != nil {
		t.Error(err)
	}
	if status := protect.Status(); len(status) != 1 || !status[0].Opaque || status[0].Keys != 0 {
		t.Errorf("%+v", status)
	}
}
