package gate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/orbgate/orbgate/bindings/go/orbgate"
	"github.com/orbgate/orbgate/bindings/go/orbgate/gate"
	"github.com/orbgate/orbgate/bindings/go/orbgate/gate/gatetest"
)

// What happens in a call: the pieces that the handler writes, before which of them its caller leaves (after the last, or never), for what the
// handler then waits, and whether it stops then.
type leavingPlan struct {
	contentType string
	pieces      []string
	leaves      int
	waits       int
	flushes     bool
	stops       bool
	leave       func()
	isOver      chan struct{}
}

func planOf(seed uint64) *leavingPlan {
	random := rand.New(rand.NewPCG(seed, 0))
	plan := &leavingPlan{contentType: "application/json", isOver: make(chan struct{}), flushes: random.IntN(2) == 0, waits: random.IntN(3), stops: random.IntN(2) == 0}
	text := `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}]}}`
	if random.IntN(2) == 0 {
		plan.contentType, text = "text/event-stream", "event: message\ndata: "+text+"\n\n"
	}
	for len(text) > 0 && len(plan.pieces) < 4 {
		cut := random.IntN(len(text) + 1)
		plan.pieces, text = append(plan.pieces, text[:cut]), text[cut:]
	}
	plan.pieces = append(plan.pieces, text)
	plan.leaves = random.IntN(len(plan.pieces) + 2)
	return plan
}

// Answers, in every other call as a handler that never looks whether its caller is there.
func (p *leavingPlan) answer(w http.ResponseWriter, r *http.Request) {
	before := func(at int) {
		if at != p.leaves {
			return
		}
		p.leave()
		switch p.waits {
		case 1:
			time.Sleep(time.Millisecond)
		case 2:
			<-r.Context().Done()
		}
	}
	w.Header().Set("Content-Type", p.contentType)
	for at, piece := range p.pieces {
		before(at)
		if p.stops && r.Context().Err() != nil {
			return
		}
		_, _ = io.WriteString(w, piece)
		if p.flushes {
			_ = http.NewResponseController(w).Flush()
		}
	}
	before(len(p.pieces))
}

// A caller leaves a paid call of an MCP endpoint at any moment: it is settled once. ORBGATE_LEAVING is the number of calls.
func TestACallerLeavesAtAnyMoment(t *testing.T) {
	calls, err := strconv.Atoi(os.Getenv("ORBGATE_LEAVING"))
	if err != nil {
		calls = 100
	}
	var mutex sync.Mutex
	holds := map[string][]string{}
	ledger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mutex.Lock()
		defer mutex.Unlock()
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path == "/v1/hold" {
			var hold struct{ ID string }
			_ = json.Unmarshal(body, &hold)
			holds[hold.ID] = nil
			_, _ = io.WriteString(w, `{"hold":"held","state":"pending","at":1}`)
			return
		}
		var each []struct {
			Hold       string
			Settlement json.RawMessage
		}
		_ = json.Unmarshal(body, &each)
		answers := make([]map[string]any, len(each))
		for at, one := range each {
			if answers[at] = map[string]any{"at": 1, "state": "captured"}; string(one.Settlement) == `"void"` {
				answers[at]["state"] = "voided"
			}
			if r.URL.Path == "/v1/settle" {
				holds[one.Hold] = append(holds[one.Hold], string(one.Settlement))
			}
		}
		_ = json.NewEncoder(w).Encode(answers)
	}))
	defer ledger.Close()
	issuer, err := gatetest.Start(0)
	if err != nil {
		t.Fatal(err)
	}
	defer issuer.Close()
	engine, err := orbgate.FromYAML("orbgate: 1\napis: { a: { base_path: /mcp, scopes: { run: { orbs: 5, routes: [MCP /tools/call/run] } } } }\n")
	if err != nil {
		t.Fatal(err)
	}
	protect, err := gate.New(gate.Config{
		Policy: orbgate.NewHandle(engine), Tokens: issuer.Tokens(), MCP: gate.MCP{Path: "/mcp", InitialScopes: "run"},
		Ledger: &gate.Ledger{URL: ledger.URL, Secret: "0123456789abcdef0123456789abcdef", OnCancelled: gate.Void, OnToolError: gate.Void, OnInputRequired: gate.Void, TTL: 5 * time.Minute, Timeout: time.Minute},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer protect.Close()
	var plans sync.Map
	server := httptest.NewServer(protect.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		plan, _ := plans.Load(r.Header.Get("X-Number"))
		defer close(plan.(*leavingPlan).isOver)
		plan.(*leavingPlan).answer(w, r)
	})))
	defer server.Close()
	bearer := issuer.Bearer(orbgate.KindUser, "run")
	const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`
	call := func(seed int) {
		connection, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Error(err)
			return
		}
		plan := planOf(uint64(seed))
		plan.leave = func() { _ = connection.Close() }
		plans.Store(strconv.Itoa(seed), plan)
		fmt.Fprintf(connection, "POST /mcp HTTP/1.1\r\nHost: a\r\nAuthorization: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"+
			"Mcp-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: run\r\nX-Number: %d\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", bearer, seed, len(body), body)
		answer, _ := io.ReadAll(connection)
		select {
		case <-plan.isOver:
		case <-time.After(time.Minute):
			t.Errorf("%d: the handler didn't run: %s", seed, answer)
		}
		_ = connection.Close()
	}
	random := rand.New(rand.NewPCG(uint64(calls), 1))
	for done := 0; done < calls; {
		together := min(1+random.IntN(8), calls-done)
		var all sync.WaitGroup
		for at := range together {
			all.Add(1)
			go func() {
				defer all.Done()
				call(done + at)
			}()
		}
		all.Wait()
		done += together
	}
	soon, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	// A handler can return after its caller has the whole answer.
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if err := protect.Flush(soon); err != nil {
			t.Fatal(err)
		}
		mutex.Lock()
		open := 0
		for _, settled := range holds {
			if len(settled) == 0 {
				open++
			}
		}
		mutex.Unlock()
		if open == 0 {
			break
		}
	}
	mutex.Lock()
	defer mutex.Unlock()
	counts := map[string]int{}
	for _, settled := range holds {
		counts[fmt.Sprint(settled)]++
	}
	if len(holds) != calls || counts[`[{"capture":5}]`]+counts[`["void"]`] != calls || counts[`[{"capture":5}]`] == 0 || counts[`["void"]`] == 0 {
		t.Error(len(holds), counts)
	}
}
