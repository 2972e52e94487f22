package gate_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orbgate/orbgate/bindings/go/orbgate"
	"github.com/orbgate/orbgate/bindings/go/orbgate/gate"
)

// The group `orbs` of the exchanges has the rest, over a real service.
func TestFlushWaitsForTheLedger(t *testing.T) {
	var settled atomic.Int64
	isOpen := make(chan struct{})
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path == "/v1/hold" {
			_, _ = w.Write([]byte(`{"hold":"held","state":"pending","at":1}`))
			return
		}
		<-isOpen
		var each []json.RawMessage
		if r.URL.Path != "/v1/settle" || json.Unmarshal(body, &each) != nil || len(each) != 1 {
			t.Errorf("%s: %s", r.URL.Path, body)
		}
		settled.Add(1)
		_, _ = w.Write([]byte(`[{"state":"captured","captured":3,"at":2}]`))
	}))
	defer service.Close()
	engine, err := orbgate.FromYAML("orbgate: 1\napis: { a: { base_path: '', scopes: { 'write:a': { orbs: 3, routes: [POST /a] } } } }\n")
	if err != nil {
		t.Fatal(err)
	}
	i := newIssuer(t)
	ledger := &gate.Ledger{URL: service.URL, Secret: "0123456789abcdef0123456789abcdef", OnCancelled: gate.Void, Timeout: time.Minute / 4}
	protect := newGate(t, i, gate.Config{Policy: orbgate.NewHandle(engine), Tokens: i.tokens() + "    account: subject\n", Ledger: ledger})
	server := httptest.NewServer(protect.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(204) })))
	request, _ := http.NewRequest("POST", server.URL+"/a", nil)
	request.Header.Set("Authorization", "Bearer "+i.token(t, "rsa", map[string]any{"scope": "write:a"}))
	answer, err := http.DefaultClient.Do(request)
	if err != nil || answer.StatusCode != 204 {
		t.Fatal(answer, err)
	}
	_ = answer.Body.Close()
	server.Close()
	soon, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := protect.Flush(soon); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	close(isOpen)
	if err := protect.Flush(t.Context()); err != nil || settled.Load() != 1 {
		t.Error(err, settled.Load())
	}
}
