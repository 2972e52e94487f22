package gate_test

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/orbgate/orbgate/bindings/go/orbgate"
	"github.com/orbgate/orbgate/bindings/go/orbgate/gate"
	"github.com/orbgate/orbgate/bindings/go/orbgate/gate/gatetest"
)

const mcpCases = "../../../../policy/cases/mcp/"

// A service behind a gate that answers with what it reads, and counts how often it runs.
type mcpService struct {
	*httptest.Server
	protect *gate.Gate
	issuer  *gatetest.Issuer
	ran     atomic.Int32
}

func newMCP(t *testing.T, change func(*gate.Config)) *mcpService {
	t.Helper()
	issuer, err := gatetest.Start(0)
	if err != nil {
		t.Fatal(err)
	}
	engine, err := orbgate.FromFile(mcpCases + "policy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	config := gate.Config{Policy: orbgate.NewHandle(engine), Tokens: issuer.Tokens(), MCP: gate.MCP{Path: "/mcp", InitialScopes: "mcp:connect", Origins: []string{"https://app.example"}}}
	engine.Close()
	if change != nil {
		change(&config)
	}
	protect, err := gate.New(config)
	if err != nil {
		t.Fatal(err)
	}
	service := &mcpService{protect: protect, issuer: issuer}
	mux := http.NewServeMux()
	mux.Handle("/mcp", gate.HandlerFunc(func(w http.ResponseWriter, r *http.Request, _ gate.Call) {
		service.ran.Add(1)
		_, _ = io.Copy(w, r.Body)
	}))
	if err := protect.CheckMux(mux); err != nil {
		t.Error(err)
	}
	service.Server = httptest.NewServer(protect.Mux(mux))
	t.Cleanup(func() {
		service.Close()
		protect.Close()
		issuer.Close()
	})
	return service
}

func (s *mcpService) send(t *testing.T, method, scopes string, headers []string, body io.Reader) (*http.Response, []byte) {
	t.Helper()
	request, err := http.NewRequest(method, s.URL+"/mcp", body)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		// As it is, and not in Go's letter case.
		request.Header[name] = append(request.Header[name], value)
	}
	if scopes != "" {
		request.Header.Set("Authorization", s.issuer.Bearer(orbgate.KindUser, scopes))
	}
	response, err := s.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, content
}

type mcpRow struct {
	Group, Name string
	Headers     []string
	Body        string
	BodyBase64  []byte `json:"body_base64"`
	Status      int
	ID          string
	Scope       string
}

func mcpRows[Row any](t *testing.T, name string) []Row {
	t.Helper()
	file, err := os.Open(mcpCases + name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var rows []Row
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var row Row
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

func TestAPageReadsWhatTheGateStates(t *testing.T) {
	service := newMCP(t, nil)
	heads := []func(http.ResponseWriter){
		func(w http.ResponseWriter) { w.WriteHeader(http.StatusOK) },
		func(w http.ResponseWriter) { _, _ = io.WriteString(w, "ran") },
		func(w http.ResponseWriter) { w.(http.Flusher).Flush() },
		func(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() },
		func(http.ResponseWriter) {},
	}
	for number, head := range heads {
		mux := http.NewServeMux()
		mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Access-Control-Allow-Origin", "*")
			w.Header().Set("Access-Control-Allow-Credentials", "true")
			w.Header().Set("Vary", "Accept")
			w.WriteHeader(http.StatusEarlyHints)
			head(w)
		})
		inside := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if answer := service.protect.AskHTTP(r); answer.IsAllow() {
				mux.ServeHTTP(answer.Writer(w), r)
			} else {
				answer.Deny(w)
			}
		})
		handlers := []http.Handler{service.protect.Mux(mux), inside}
		if number == len(heads)-1 {
			handlers = handlers[:1] // Nothing passes the writer.
		}
		for _, handler := range handlers {
			server := httptest.NewServer(handler)
			body := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_orders"}}`)
			request, _ := http.NewRequest("POST", server.URL+"/mcp", body)
			request.Header = http.Header{"Content-Type": {"application/json"}, "Origin": {"https://app.example"}, "Authorization": {service.issuer.Bearer(orbgate.KindUser, "orders:read")}}
			response, err := server.Client().Do(request)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
			server.Close()
			stated := map[string]string{"Access-Control-Allow-Origin": "https://app.example", "Access-Control-Expose-Headers": "WWW-Authenticate, Mcp-Session-Id", "Access-Control-Allow-Credentials": "", "Vary": "Accept, Origin"}
			for name, value := range stated {
				if actual := strings.Join(response.Header.Values(name), ", "); response.StatusCode != 200 || actual != value {
					t.Errorf("%d: %d, %s is %q", number, response.StatusCode, name, actual)
				}
			}
		}
	}
}

func TestVisibleNamesAreThoseOfTheToken(t *testing.T) {
	service := newMCP(t, nil)
	type row struct {
		Scopes, Method string
		Names, Visible []string
	}
	rows := mcpRows[row](t, "visible.jsonl")
	for _, row := range rows {
		token := &gate.Token{Kind: orbgate.KindUser, Scopes: row.Scopes}
		if visible := service.protect.Visible(token, row.Method, row.Names); !slices.Equal(visible, row.Visible) {
			t.Errorf("%+v: %q", row, visible)
		}
		if visible := service.protect.Visible(new(gate.Token), row.Method, row.Names); len(visible) > 0 {
			t.Errorf("without a token: %q", visible)
		}
	}
	if len(rows) != 6 {
		t.Error(rows)
	}
}

func TestOnlyAllowedMessagesReachTheHandler(t *testing.T) {
	service := newMCP(t, nil)
	allowed := int32(0)
	rows := mcpRows[mcpRow](t, "requests.jsonl")
	for _, row := range rows {
		if row.BodyBase64 == nil {
			row.BodyBase64 = []byte(row.Body)
		}
		response, body := service.send(t, http.MethodPost, "mcp:connect orders:read", row.Headers, bytes.NewReader(row.BodyBase64))
		if response.StatusCode != row.Status {
			t.Errorf("%s: %d, and not %d: %s", row.Name, response.StatusCode, row.Status, body)
		}
		challenge := response.Header.Get("WWW-Authenticate")
		switch row.Status {
		case http.StatusOK:
			allowed++
			if !bytes.Equal(body, row.BodyBase64) {
				t.Errorf("%s: another body: %s", row.Name, body)
			}
		case http.StatusForbidden:
			want := ""
			if row.Scope != "" {
				want = fmt.Sprintf(`Bearer error="insufficient_scope", scope="%s"`, row.Scope)
			}
			if len(body) > 0 || challenge != want {
				t.Errorf("%s: %s %s", row.Name, challenge, body)
			}
		default:
			if response.Header.Get("Content-Type") != "application/json" || !json.Valid(body) || row.ID != "" && !bytes.Contains(body, []byte(`"id":`+row.ID+",")) {
				t.Errorf("%s: %s", row.Name, body)
			}
		}
		if ran := service.ran.Load(); ran != allowed {
			t.Fatalf("%s: %d handlers ran, and not %d", row.Name, ran, allowed)
		}
	}
	if len(rows) != 162 || allowed != 25 {
		t.Errorf("%d requests, %d allowed", len(rows), allowed)
	}
}

const callOfList = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_orders"}}`

var isJSON = []string{"Content-Type: application/json"}

// A body that a server's middleware reads wrongly.
type panicking struct{}

func (panicking) Read([]byte) (int, error) { panic("no way") }

func TestABodyThatPanicsIsUnreadable(t *testing.T) {
	service := newMCP(t, nil)
	// More at a time than the gate holds, if it went on holding them.
	for range 40 {
		request := httptest.NewRequest(http.MethodPost, "/mcp", panicking{})
		request.ContentLength = 4 << 20
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Authorization", service.issuer.Bearer(orbgate.KindUser, "mcp:connect orders:read"))
		response := httptest.NewRecorder()
		service.Config.Handler.ServeHTTP(response, request)
		if response.Code != http.StatusBadRequest || service.ran.Load() != 0 {
			t.Fatal(response.Code, response.Body)
		}
	}
	if response, body := service.send(t, http.MethodPost, "mcp:connect orders:read", isJSON, strings.NewReader(callOfList)); response.StatusCode != http.StatusOK {
		t.Error(response.StatusCode, string(body))
	}
}

// A body that tells when it is read.
type telling struct {
	io.Reader
	read *atomic.Bool
}

func (t telling) Read(to []byte) (int, error) {
	t.read.Store(true)
	return t.Reader.Read(to)
}

func TestABodyIsReadOnlyWithAValidTokenAndUpToItsLimit(t *testing.T) {
	service := newMCP(t, func(config *gate.Config) {
		config.Resource = "https://service.test"
		config.MCP.MostBytes = 200
	})
	ask := func(token string, length int64, body io.Reader) (int, bool) {
		read := new(atomic.Bool)
		request := httptest.NewRequest(http.MethodPost, "/mcp", telling{body, read})
		request.ContentLength = length
		request.Header.Set("Content-Type", "application/json")
		request.Header["Authorization"] = []string{token}
		answer := service.protect.AskHTTP(request)
		if answer.IsAllow() {
			if got, err := io.ReadAll(request.Body); err != nil || string(got) != callOfList {
				t.Errorf("%s %v", got, err)
			}
		}
		return answer.HTTPStatus(), read.Load()
	}
	good := service.issuer.Bearer(orbgate.KindUser, "orders:read")
	long := callOfList + strings.Repeat(" ", 200)
	for name, row := range map[string]struct {
		token  string
		length int64
		body   string
		status int
		isRead bool
	}{
		"no token":        {"Bearer x", -1, callOfList, 401, false},
		"allowed":         {good, int64(len(callOfList)), callOfList, 0, true},
		"unknown length":  {good, -1, callOfList, 0, true},
		"stated too long": {good, 201, long, 400, false},
		"too long":        {good, -1, long, 400, true},
	} {
		if status, isRead := ask(row.token, row.length, strings.NewReader(row.body)); status != row.status || isRead != row.isRead {
			t.Errorf("%s: %d %v", name, status, isRead)
		}
	}
	if status, _ := ask(good, -1, io.MultiReader(strings.NewReader(callOfList), brokenReader{})); status != 400 {
		t.Errorf("an unreadable body: %d", status)
	}
	response, body := service.send(t, http.MethodPost, "", isJSON, strings.NewReader(callOfList))
	challenge := response.Header.Get("WWW-Authenticate")
	if want := `Bearer scope="mcp:connect", resource_metadata="https://service.test/.well-known/oauth-protected-resource"`; response.StatusCode != 401 || len(body) > 0 || challenge != want {
		t.Errorf("%d %s %s", response.StatusCode, challenge, body)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestBodiesThatAreHeldAreBounded(t *testing.T) {
	service := newMCP(t, nil)
	good := service.issuer.Bearer(orbgate.KindUser, "orders:read")
	ask := func() (*http.Request, gate.Answer) {
		request := httptest.NewRequest(http.MethodPost, "/mcp", io.NopCloser(strings.NewReader(callOfList)))
		request.ContentLength = -1
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Authorization", good)
		return request, service.protect.AskHTTP(request)
	}
	// 16 bodies of unknown length, of up to 4 MiB each, are as many as fit.
	var held []*http.Request
	for range 16 {
		request, answer := ask()
		if !answer.IsAllow() {
			t.Fatal(answer)
		}
		held = append(held, request)
	}
	_, answer := ask()
	recorder := httptest.NewRecorder()
	answer.Deny(recorder)
	if recorder.Code != 429 || recorder.Header().Get("Retry-After") != "1" || !strings.Contains(recorder.Body.String(), "-32000") {
		t.Errorf("%d %v %s", recorder.Code, recorder.Header(), recorder.Body)
	}
	held[0].Body.Close()
	if _, answer = ask(); !answer.IsAllow() {
		t.Error("a body that is closed still counts")
	}
}

func TestAStreamAndASessionAreDeclared(t *testing.T) {
	service := newMCP(t, nil)
	for method, status := range map[string]int{http.MethodGet: 200, http.MethodDelete: 405, http.MethodPut: 405} {
		response, _ := service.send(t, method, "mcp:connect", nil, nil)
		if response.StatusCode != status || status == 405 && response.Header.Get("Allow") != "GET, POST" {
			t.Errorf("%s: %d %v", method, response.StatusCode, response.Header)
		}
	}
}

func TestMetadataNeedsNoToken(t *testing.T) {
	service := newMCP(t, func(config *gate.Config) { config.Resource = "https://service.test" })
	response, err := service.Client().Get(service.URL + "/.well-known/oauth-protected-resource")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var document struct {
		Resource             string
		AuthorizationServers []string `json:"authorization_servers"`
		ScopesSupported      []string `json:"scopes_supported"`
	}
	if err := json.NewDecoder(response.Body).Decode(&document); err != nil || document.Resource != "https://service.test" ||
		len(document.AuthorizationServers) != 1 || len(document.ScopesSupported) != 1 || response.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%v %+v %v", err, document, response.Header)
	}
	engine, err := orbgate.FromYAML([]byte("orbgate: 1\napis: {}\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	if _, err := gate.New(gate.Config{Policy: orbgate.NewHandle(engine), Tokens: service.issuer.Tokens(), Resource: "https://other.test"}); err == nil {
		t.Error("the resource isn't an audience")
	}
}

func TestALongMessageIsDecided(t *testing.T) {
	service := newMCP(t, nil)
	for _, length := range []int{60 << 10, 64 << 10, 70 << 10, 4<<20 - 200} {
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_orders","arguments":{"a":"` + strings.Repeat("x", length) + `"}}}`
		response, got := service.send(t, http.MethodPost, "orders:read", isJSON, strings.NewReader(body))
		if response.StatusCode != 200 || string(got) != body {
			t.Errorf("%d: %d, %d bytes: %v", length, response.StatusCode, len(got), response.Header)
		}
	}
}

// What runs was allowed under the body's own method and name, as another decoder reads them.
func TestRandomHeadersAndBodiesAgainstAnOracle(t *testing.T) {
	service := newMCP(t, nil)
	good := service.issuer.Bearer(orbgate.KindUser, "mcp:connect orders:read")
	random := rand.New(rand.NewPCG(60, 1))
	of := func(from ...string) string { return from[random.IntN(len(from))] }
	names := []string{"list_orders", "refund", "List_Orders", "delete_all", "list\\u005forders"}
	methods := []string{"tools/call", "tools/list", "ping", "prompts/get", "Tools/Call"}
	allowedNames := map[string]bool{"list_orders": true}
	ran, sent := 0, 10_000
	for range sent {
		member := func() string {
			return of(`"name"`, `"name"`, `"name"`, `"Name"`, `"na\u006de"`) + `:"` + of(names...) + `"`
		}
		params := member()
		if random.IntN(4) == 0 {
			params += "," + member()
		}
		body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,%s:"%s",%s:{%s}}`, of(`"method"`, `"method"`, `"method"`, `"Method"`), of(methods...),
			of(`"params"`, `"params"`, `"params"`, `"param\u017f"`), params)
		if random.IntN(8) == 0 {
			body = "[" + body + "]"
		}
		request := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(body))
		request.Header.Set("Authorization", good)
		request.Header.Set("Content-Type", "application/json")
		if random.IntN(2) == 0 {
			request.Header.Set("Mcp-Method", of(methods...))
		}
		if random.IntN(2) == 0 {
			request.Header.Set("Mcp-Name", of(append(names, "=?base64?"+base64.StdEncoding.EncodeToString([]byte(of(names...)))+"?=")...))
		}
		if !service.protect.AskHTTP(request).IsAllow() {
			continue
		}
		ran++
		// Go's decoder ignores letter case and takes the last member, and another takes the exact and the first one: both must agree.
		loose := struct {
			Method string
			Params struct{ Name string }
		}{}
		exact := map[string]json.RawMessage{}
		inner := map[string]string{}
		var method string
		if json.Unmarshal([]byte(body), &loose) != nil || json.Unmarshal([]byte(body), &exact) != nil || json.Unmarshal(exact["method"], &method) != nil ||
			json.Unmarshal(exact["params"], &inner) != nil || loose.Method != method || loose.Params.Name != inner["name"] {
			t.Fatalf("two decoders differ: %s", body)
		}
		if !(method == "ping" || method == "tools/list" || method == "tools/call" && allowedNames[loose.Params.Name]) {
			t.Fatalf("it was not allowed: %s", body)
		}
	}
	if ran < 100 {
		t.Errorf("only %d of %d ran", ran, sent)
	}
}
