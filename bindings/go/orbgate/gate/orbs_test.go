package gate_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orbgate/orbgate/bindings/go/orbgate"
	"github.com/orbgate/orbgate/bindings/go/orbgate/gate"
)

// The group `orbs` of the exchanges has the rest, over a real service.
func TestFlushWaitsForTheLedger(t *testing.T) {
	flushes(t, http.StatusNoContent, `{"hold":"held","state":"pending","at":1}`, `{"capture":3}`)
}

func TestFlushWaitsForTheVoidOfAHoldThatTimedOut(t *testing.T) {
	flushes(t, http.StatusServiceUnavailable, "", `"void"`)
}

// A call with this status, after this answer to its hold, is settled so before Flush returns.
func flushes(t *testing.T, status int, hold, settlement string) {
	t.Helper()
	isOpen := make(chan struct{})
	l := newLedgered(t, func(config *gate.Config) {
		config.Ledger.Timeout = time.Minute / 4
		if hold == "" {
			config.Ledger.Timeout = time.Second / 10
		}
	})
	l.set(hold, true)
	l.opens = isOpen
	call := l.serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	if answer := call(); answer.StatusCode != status {
		t.Fatal(answer.Status)
	}
	soon, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := l.Flush(soon); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	close(isOpen)
	err := l.Flush(t.Context())
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if err != nil || !slices.Equal(l.settled, []string{settlement}) {
		t.Error(err, l.settled)
	}
}

// A ledger that answers holds as it is told, and remembers how they are settled. A gate whose counters are kept, and a token.
type ledgered struct {
	*gate.Gate
	bearer   string
	mutex    sync.Mutex
	hold     string
	settles  bool
	opens    chan struct{} // nil, or what a settlement waits for
	settled  []string
	extended int
	counts   map[string]int
}

func newLedgered(t *testing.T, change func(*gate.Config)) *ledgered {
	t.Helper()
	l := &ledgered{hold: `{"hold":"held","state":"pending","at":1}`, settles: true, counts: map[string]int{}}
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/settle" && l.opens != nil {
			<-l.opens
		}
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

func TestEachURLOfTheCasesIsReadOrRefused(t *testing.T) {
	text, err := os.ReadFile("../../../../policy/cases/gate/ledgers.tsv")
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimRight(string(text), "\n"), "\n")[1:]
	if len(rows) < 40 {
		t.Fatal(len(rows))
	}
	i := newIssuer(t)
	engine, err := orbgate.FromYAML("orbgate: 1\napis: { a: { base_path: '', scopes: { 'write:a': { orbs: 3, routes: [POST /a] } } } }\n")
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	for _, row := range rows {
		url, expected, _ := strings.Cut(row, "\t")
		made, err := gate.New(gate.Config{
			Policy: orbgate.NewHandle(engine), Tokens: i.tokens() + "    account: subject\n", Logger: slog.New(slog.DiscardHandler),
			Ledger: &gate.Ledger{URL: url, Secret: "0123456789abcdef0123456789abcdef", OnCancelled: gate.Void},
		})
		message := map[string]string{"refused": "the URL of a ledger is", "in the clear": "in the clear"}[expected]
		switch {
		case err == nil:
			made.Close()
			if message != "" {
				t.Error(url)
			}
		case message == "" || !strings.Contains(err.Error(), message):
			t.Error(url, err)
		}
	}
}

func TestSettingsThatNobodyKnowsAreRefused(t *testing.T) {
	i := newIssuer(t)
	engine, err := orbgate.FromYAML("orbgate: 1\napis: { a: { base_path: '', scopes: { 'write:a': { orbs: 3, routes: [POST /a] } } } }\n")
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	for name, change := range map[string]func(*gate.Ledger){
		"OnCancelled": func(ledger *gate.Ledger) { ledger.OnCancelled = 0 },
		"OnBroken":    func(ledger *gate.Ledger) { ledger.OnBroken = gate.Stated + 1 },
		"Ceiling":     func(ledger *gate.Ledger) { ledger.Ceiling = -1 },
	} {
		ledger := &gate.Ledger{URL: "http://127.0.0.1:1", Secret: "0123456789abcdef0123456789abcdef", OnCancelled: gate.Stated}
		change(ledger)
		made, err := gate.New(gate.Config{Policy: orbgate.NewHandle(engine), Tokens: i.tokens() + "    account: subject\n", Ledger: ledger})
		if err == nil {
			made.Close()
		}
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Error(name, err)
		}
	}
}

func TestALedgerIsReachedOverAUnixSocket(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "ledger")
	l := newLedgered(t, func(config *gate.Config) {
		to := config.Ledger.URL
		listener, err := net.Listen("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		at, _ := url.Parse(to)
		server := &http.Server{Handler: httputil.NewSingleHostReverseProxy(at)}
		go server.Serve(listener)
		t.Cleanup(func() { server.Close() })
		config.Ledger.URL = "unix:" + socket
	})
	if answer := l.serve(t, func(http.ResponseWriter, *http.Request) {})(); answer.StatusCode != http.StatusOK {
		t.Error(answer.Status)
	}
	l.until(t, func() bool { return len(l.settled) == 1 })
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
