package gate_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orbgate/orbgate/bindings/go/orbgate"
	"github.com/orbgate/orbgate/bindings/go/orbgate/gate"
)

// What an endpoint is asked, and with which secret, the exchanges of every language show.
func TestManyOpaqueTokensAreAskedAboutInTurn(t *testing.T) {
	var asked, now, most atomic.Int32
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		at := now.Add(1)
		defer now.Add(-1)
		for before := most.Load(); at > before && !most.CompareAndSwap(before, at); before = most.Load() {
		}
		time.Sleep(5 * time.Millisecond)
		fmt.Fprintf(w, `{"active":true,"aud":"api","exp":%d,"sub":"user-7","scope":"read:orbs"}`, time.Now().Unix()+600)
	}))
	defer endpoint.Close()
	t.Setenv("ORBGATE_TEST_SECRET", "s3cret")
	engine, err := orbgate.External()
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	protect, err := gate.New(gate.Config{Policy: orbgate.NewHandle(engine), Tokens: fmt.Sprintf("orbgate_token: 1\nissuers:\n  - issuer: %s/issuer\n    audience: api\n    kind: user\n"+
		"    opaque: { endpoint: '%s/introspect', client_id: my-api, client_secret_env: ORBGATE_TEST_SECRET }\n", endpoint.URL, endpoint.URL)})
	if err != nil {
		t.Fatal(err)
	}
	defer protect.Close()
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
	if asked.Load() != 40 || most.Load() > 32 {
		t.Errorf("asked %d times, %d at once", asked.Load(), most.Load())
	}
	if err := protect.Warm(t.Context()); err != nil {
		t.Error(err)
	}
	if status := protect.Status(); len(status) != 1 || !status[0].Opaque || status[0].Keys != 0 {
		t.Errorf("%+v", status)
	}
}
