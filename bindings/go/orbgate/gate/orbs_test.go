package gate_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
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

// A ledger that answers holds as it is told, and remembers how they are settled. A gate whose counters are kept, and a token.
type ledgered struct {
	*gate.Gate
	bearer   string
	mutex    sync.Mutex
	hold     string
	settles  bool
	settled  []string
	extended int
	counts   map[string]int
}

func newLedgered(t *testing.T, change func(*gate.Config)) *ledgered {
	t.Helper()
	l := &ledgered{hold: `{"hold":"held","state":"pending","at":1}`, settles: true, counts: map[string]int{}}
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.mutex.Lock()
		defer l.mutex.Unlock()
		var each []struct{ Settlement json.RawMessage }
		body, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(body, &each)
		switch {
		case r.URL.Path == "/v1/hold" && l.hold != "":
			_, _ = w.Write([]byte(l.hold))
			return
		case r.URL.Path == "/v1/extend":
			l.extended += len(each)
		case r.URL.Path != "/v1/settle" || !l.settles:
			panic(http.ErrAbortHandler)
		}
		answers := make([]map[string]any, len(each))
		for at, one := range each {
			answers[at] = map[string]any{"at": 1, "state": "voided"}
			if one.Settlement != nil {
				l.settled = append(l.settled, string(one.Settlement))
			}
		}
		_ = json.NewEncoder(w).Encode(answers)
	}))
	t.Cleanup(service.Close)
	engine, err := orbgate.FromYAML("orbgate: 1\napis: { a: { base_path: '', scopes: { 'write:a': { orbs: 3, routes: [POST /a] } } } }\n")
	if err != nil {
		t.Fatal(err)
	}
	i := newIssuer(t)
	config := gate.Config{Policy: orbgate.NewHandle(engine), Tokens: i.tokens() + "    account: subject\n", Count: func(name string, labels ...gate.Label) {
		l.mutex.Lock()
		defer l.mutex.Unlock()
		l.counts[name+" "+labels[0].Value]++
	}}
	config.Ledger = &gate.Ledger{URL: service.URL, Secret: "0123456789abcdef0123456789abcdef", OnCancelled: gate.Void}
	change(&config)
	l.Gate = newGate(t, i, config)
	l.bearer = "Bearer " + i.token(t, "rsa", map[string]any{"scope": "write:a"})
	return l
}

// A server, and what calls it.
func (l *ledgered) serve(t *testing.T, handler http.HandlerFunc) func() *http.Response {
	t.Helper()
	server := httptest.NewServer(l.Middleware(handler))
	t.Cleanup(server.Close)
	return func() *http.Response {
		t.Helper()
		request, _ := http.NewRequest("POST", server.URL+"/a", nil)
		request.Header.Set("Authorization", l.bearer)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		return answer
	}
}

func (l *ledgered) until(t *testing.T, isThere func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		l.mutex.Lock()
		is := isThere()
		l.mutex.Unlock()
		if is {
			return
		}
		if time.Now().After(end) {
			t.Fatal("it takes too long")
		}
	}
}

func (l *ledgered) set(hold string, settles bool) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.hold, l.settles = hold, settles
}

func TestAHeartbeatExtendsTheHoldsOfCallsThatRun(t *testing.T) {
	l := newLedgered(t, func(config *gate.Config) {
		config.Ledger.TTL = 6 * time.Second
	})
	call := l.serve(t, func(http.ResponseWriter, *http.Request) { l.until(t, func() bool { return l.extended > 0 }) })
	if answer := call(); answer.StatusCode != http.StatusOK {
		t.Error(answer.Status)
	}
	l.until(t, func() bool { return slices.Equal(l.settled, []string{`{"capture":3}`}) })
}

func TestAFullQueueDeniesAndLostSettlementsAreCounted(t *testing.T) {
	l := newLedgered(t, func(config *gate.Config) {
		config.Ledger.TTL, config.Ledger.Queue = 6*time.Second, 1
	})
	l.settles = false
	call := l.serve(t, func(http.ResponseWriter, *http.Request) {})
	if answer := call(); answer.StatusCode != http.StatusOK {
		t.Error(answer.Status)
	}
	if answer := call(); answer.StatusCode != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") != "1" {
		t.Error(answer.Status, answer.Header)
	}
	l.until(t, func() bool { return l.counts["orbgate_settlements_total lost"] == 1 })
	l.until(t, func() bool {
		return l.counts["orbgate_holds_total held"] == 1 && l.counts["orbgate_holds_total unavailable"] == 1
	})
}

func TestFlatDenialsHideAnEmptyAccountButNotALedgerThatIsDown(t *testing.T) {
	l := newLedgered(t, func(config *gate.Config) { config.Flat403 = true })
	call := l.serve(t, func(http.ResponseWriter, *http.Request) {})
	for hold, status := range map[string]int{`{"hold":"denied","reason":"insufficient"}`: 403, "": 503} {
		l.set(hold, true)
		if answer := call(); answer.StatusCode != status {
			t.Error(hold, answer.Status)
		}
	}
}

func TestAWebSocketIsChargedAtItsHandshake(t *testing.T) {
	l := newLedgered(t, func(*gate.Config) {})
	call := l.serve(t, func(w http.ResponseWriter, _ *http.Request) {
		connection, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer connection.Close()
		l.until(t, func() bool { return len(l.settled) == 1 }) // before the handler ends
		_, _ = io.WriteString(connection, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	})
	call()
	l.until(t, func() bool { return slices.Equal(l.settled, []string{`{"capture":3}`}) })
}
