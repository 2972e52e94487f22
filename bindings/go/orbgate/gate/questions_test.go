package gate_test

import (
	"bytes"
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
