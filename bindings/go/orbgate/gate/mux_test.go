package gate_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/orbgate/orbgate/bindings/go/orbgate"
	"github.com/orbgate/orbgate/bindings/go/orbgate/gate"
)

const around = `orbgate: 1
apis:
  a:
    base_path: ""
    scopes:
      read:orbs:
        orbs: false
        routes: [GET /a, HEAD /a, POST /a, "GET /a/{id}", GET /tree, "GET /files/{name}", CONNECT /c, CONNECT /tree, GET /alone, GET /]
`

// A gate with a policy of its own, and what makes a token for it.
func gateOf(t *testing.T, policy string, config gate.Config) (protect *gate.Gate, token string) {
	t.Helper()
	i := newIssuer(t)
	engine, err := orbgate.FromYAML(policy)
	if err != nil {
		t.Fatal(err)
	}
	config.Policy = orbgate.NewHandle(engine)
	engine.Close()
	return newGate(t, i, config), i.token(t, "ec", nil)
}

// Answers with what the handler sees, and with the pattern that it was registered for.
func sees(pattern string) http.Handler {
	return gate.HandlerFunc(func(w http.ResponseWriter, r *http.Request, call gate.Call) {
		fmt.Fprint(w, pattern, ": ", r.Method, " ", r.URL.Path, ", ", call.Decision.Route())
	})
}

func muxOf(patterns ...string) *http.ServeMux {
	mux := http.NewServeMux()
	for _, pattern := range patterns {
		mux.Handle(pattern, sees(pattern))
	}
	return mux
}

// A request as it is written here, over a connection of its own, without redirects.
func send(t *testing.T, server *httptest.Server, line string, headers ...string) (status int, body string) {
	t.Helper()
	connection, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	host := "Host: localhost"
	if at := slices.IndexFunc(headers, func(header string) bool { return strings.HasPrefix(header, "Host:") }); at >= 0 {
		host, headers = headers[at], slices.Delete(slices.Clone(headers), at, at+1)
	}
	lines := append([]string{line + " HTTP/1.1", host}, headers...)
	if _, err := io.WriteString(connection, strings.Join(lines, "\r\n")+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	method, _, _ := strings.Cut(line, " ")
	response, err := http.ReadResponse(bufio.NewReader(connection), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	if method == http.MethodConnect || response.StatusCode == http.StatusSwitchingProtocols {
		return response.StatusCode, ""
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return response.StatusCode, string(text)
}

func TestAPreflightRunsOnlyAHandlerForOptions(t *testing.T) {
	protect, _ := gateOf(t, around, gate.Config{CorsPreflight: true})
	inner, _ := gateOf(t, around, gate.Config{CorsPreflight: true, Template: gate.Pattern})
	mux := muxOf("/a", "OPTIONS /a/{id}")
	within := http.NewServeMux()
	for _, pattern := range []string{"/a", "OPTIONS /a/{id}"} {
		within.Handle(pattern, inner.Middleware(sees(pattern)))
	}
	for name, handler := range map[string]http.Handler{"around": protect.Mux(mux), "within": within} {
		server := httptest.NewServer(handler)
		defer server.Close()
		for target, expected := range map[string]int{"/a": 404, "/a/7": 200} {
			status, body := send(t, server, "OPTIONS "+target, "Origin: https://a.example", "Access-Control-Request-Method: GET")
			if status != expected && (expected != 404 || status != 401) {
				t.Errorf("%s, %s: %d %s", name, target, status, body)
			}
		}
	}
}

func TestAMuxIsComparedWithThePolicy(t *testing.T) {
	var misrouted atomic.Int32
	protect, token := gateOf(t, around, gate.Config{Count: func(name string, _ ...gate.Label) {
		if name == "orbgate_misrouted_total" {
			misrouted.Add(1)
		}
	}})
	mux := muxOf("GET /a", "POST\t/a", "/a/{id}", "GET /a/export", "other.example/a", "other.example/a/{id}", "/tree/", "/files/{rest...}", "CONNECT  /c", "/{$}")
	for name, handler := range map[string]http.Handler{"Mux": protect.Mux(mux), "Middleware": protect.Middleware(mux)} {
		server := httptest.NewServer(handler)
		defer server.Close()
		for _, row := range []struct {
			line, host string
			status     int
			body       string
			misrouted  int32
		}{
			{"GET /a", "", 200, "GET /a: GET /a, GET /a", 0},
			{"GET /a?x=/a/export", "", 200, "GET /a: GET /a, GET /a", 0},
			{"HEAD /a", "", 200, "", 0},
			{"POST /a", "", 200, "POST\t/a: POST /a, POST /a", 0},
			{"GET /a/7", "", 200, "/a/{id}: GET /a/7, GET /a/{id}", 0},
			{"GET /", "", 200, "/{$}: GET /, GET /", 0},
			{"CONNECT /c", "", 200, "", 0},
			{"PUT /a", "", 405, "", 0},
			// What the policy lacks, and the mux has.
			{"GET /a/export", "", 404, "", 1},
			{"GET /a", "Host: other.example", 404, "", 1},
			{"GET /a/7", "Host: other.example:80", 404, "", 1},
			{"GET /files/x", "", 404, "", 1},
			// What the policy has, and the mux lacks.
			{"GET /alone", "", 404, "", 1},
			// A redirect.
			{"GET /tree", "", 404, "", 1},
			{"CONNECT /tree", "", 404, "", 1},
			{"GET /tree/", "", 400, "", 0},
			{"GET /tree/below", "", 404, "", 0},
			{"GET //a", "", 400, "", 0},
			{"GET /a/../a", "", 400, "", 0},
			{"GET /a/./7", "", 400, "", 0},
			{"GET http://localhost/a", "", 400, "", 0},
			{"OPTIONS *", "", 400, "", 0},
			{"CONNECT localhost:80", "", 400, "", 0},
		} {
			misrouted.Store(0)
			headers := []string{bearer(token)}
			if row.host != "" {
				headers = append(headers, row.host)
			}
			if strings.HasPrefix(row.line, "OPTIONS *") {
				server.Config.DisableGeneralOptionsHandler = true
			}
			if status, body := send(t, server, row.line, headers...); status != row.status || body != row.body || misrouted.Load() != row.misrouted {
				t.Errorf("%s: %s %s: %d %q, %d misrouted", name, row.line, row.host, status, body, misrouted.Load())
			}
			if status, _ := send(t, server, row.line); status != 401 && status != 400 {
				t.Errorf("%s: %s without a token: %d", name, row.line, status)
			}
		}
	}
}

func TestAMuxOutsideIsComparedWithoutATemplate(t *testing.T) {
	protect, token := gateOf(t, around, gate.Config{Public: []string{"GET /docs/{page}"}, CorsPreflight: true})
	mux := http.NewServeMux()
	for _, pattern := range []string{"GET /a/{id}", "GET /a/export", "GET other.example/a/{id}", "/docs/secret", "/docs/", "GET /{$}", "GET /files/{rest...}", "/tree"} {
		mux.Handle(pattern, protect.Middleware(sees(pattern)))
	}
	server := httptest.NewServer(mux)
	defer server.Close()
	preflight := []string{"Origin: https://a.example", "Access-Control-Request-Method: GET"}
	for _, row := range []struct {
		line    string
		status  int
		headers []string
	}{
		{"GET /a/7", 200, []string{bearer(token)}},
		{"GET /", 200, []string{bearer(token)}},
		{"GET /tree", 200, []string{bearer(token)}},
		{"GET /a/export", 404, []string{bearer(token)}},
		{"GET /a/7", 404, []string{bearer(token), "Host: other.example"}},
		{"GET /docs/secret", 404, nil},
		{"OPTIONS /tree", 401, preflight},
		// A subtree can be a router's.
		{"GET /docs/page", 200, nil},
		{"GET /files/x", 200, []string{bearer(token)}},
	} {
		if status, body := send(t, server, row.line, row.headers...); status != row.status {
			t.Errorf("%s %v: %d %q", row.line, row.headers, status, body)
		}
	}
}

// Changes a request before what follows.
func rewriting(change func(*http.Request), next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		change(r)
		next.ServeHTTP(w, r)
	})
}

func TestARewriteBeforeTheGateIsDenied(t *testing.T) {
	protect, token := gateOf(t, around, gate.Config{})
	inside, insideToken := gateOf(t, around, gate.Config{Template: gate.Pattern})
	routed := http.NewServeMux()
	routed.Handle("GET /a/{id}", inside.Middleware(sees("inside")))
	router := http.HandlerFunc(sees("router").ServeHTTP)
	path := func(path, raw string) func(*http.Request) {
		return func(r *http.Request) { r.URL.Path, r.URL.RawPath = path, raw }
	}
	for name, row := range map[string]struct {
		handler http.Handler
		token   string
		status  int
	}{
		"nothing":          {rewriting(func(*http.Request) {}, protect.Mux(muxOf("/a/{id}"))), token, 200},
		"mux":              {rewriting(path("/a/8", ""), protect.Mux(muxOf("/a/{id}"))), token, 404},
		"mux, other route": {rewriting(path("/alone", ""), protect.Mux(muxOf("/a/{id}", "/alone"))), token, 404},
		"raw path":         {rewriting(path("/a/7", "/%61/7"), protect.Mux(muxOf("/a/{id}"))), token, 404},
		"router":           {rewriting(path("/alone", ""), protect.Middleware(router)), token, 404},
		"prefix":           {http.StripPrefix("/a", protect.Middleware(router)), token, 404},
		"inside a mux":     {routed, insideToken, 200},
		"before that mux":  {rewriting(path("/a/8", ""), routed), insideToken, 404},
		"query":            {http.AllowQuerySemicolons(protect.Mux(muxOf("/a/{id}"))), token, 200},
		"a method that the policy has": {rewriting(func(r *http.Request) { r.Method = "POST" }, protect.Mux(muxOf("/a/{id}"))),
			token, 405},
		"a method after the mux": {func() http.Handler {
			mux := http.NewServeMux()
			mux.Handle("POST /a/{id}", rewriting(func(r *http.Request) { r.Method = "GET" }, inside.Middleware(sees("inside"))))
			return rewriting(func(r *http.Request) { r.Method = "POST" }, mux)
		}(), insideToken, 404},
	} {
		server := httptest.NewServer(row.handler)
		defer server.Close()
		if status, body := send(t, server, "GET /a/7?x;y", bearer(row.token)); status != row.status {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
}

func TestAHandlerRunsOnlyForTheRequestThatWasAllowed(t *testing.T) {
	protect, token := gateOf(t, around, gate.Config{})
	within := func(change func(*http.Request)) http.Handler {
		mux := http.NewServeMux()
		mux.Handle("GET /a/{id}", rewriting(change, sees("within")))
		return protect.Mux(mux)
	}
	for name, row := range map[string]struct {
		handler http.Handler
		status  int
		body    string
	}{
		"its gate":      {within(func(*http.Request) {}), 200, "within: GET /a/7, GET /a/{id}"},
		"another query": {within(func(r *http.Request) { r.URL.RawQuery = "" }), 200, "within: GET /a/7, GET /a/{id}"},
		"no gate":       {muxOf("/a/{id}"), 500, ""},
		"a method":      {within(func(r *http.Request) { r.Method = "DELETE" }), 500, ""},
		"a path":        {within(func(r *http.Request) { r.URL.Path = "/a/8" }), 500, ""},
		"a target":      {within(func(r *http.Request) { r.URL.Path, r.RequestURI = "/a/8", "/a/8" }), 500, ""},
	} {
		server := httptest.NewServer(row.handler)
		defer server.Close()
		if status, body := send(t, server, "GET /a/7?_method=DELETE", bearer(token)); status != row.status || body != row.body {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
}

func TestADenialIsNotACall(t *testing.T) {
	protect, token := gateOf(t, around, gate.Config{})
	ask := func(target string) gate.Answer {
		return protect.Ask(t.Context(), gate.Request{Method: "GET", Target: target, Authorization: []string{"Bearer " + token}})
	}
	allowed := gate.With(t.Context(), ask("/a"))
	if call, ok := gate.From(allowed); !ok || call.Token.Subject != "me" {
		t.Errorf("%+v", call)
	}
	for _, denial := range []gate.Answer{ask("/more"), {}} {
		if call, ok := gate.From(gate.With(allowed, denial)); ok {
			t.Errorf("%+v", call)
		}
	}
}

func TestAMuxAndAHandlerAreCheckedAtTheStart(t *testing.T) {
	protect, _ := gateOf(t, around, gate.Config{})
	all := []string{"/a", "/a/{id}", "GET /tree", "CONNECT /tree", "/files/{file}", "/c", "/alone", "/{$}"}
	if err := protect.CheckMux(muxOf(all...)); err != nil {
		t.Error(err)
	}
	var differ *gate.RoutesError
	err := protect.CheckMux(muxOf("other.example/a", "/a/{id}", "/tree/", "/files/{rest...}", "/c", "POST /{$}"))
	if !errors.As(err, &differ) || !slices.Equal(slices.Sorted(slices.Values(differ.Unserved)), []string{"CONNECT /tree", "GET /", "GET /a", "GET /alone", "GET /files/{name}", "GET /tree", "HEAD /a", "POST /a"}) ||
		!slices.ContainsFunc(differ.Undeclared, func(route gate.UndeclaredRoute) bool { return strings.HasPrefix(route.Route, "GET /tree/") }) {
		t.Errorf("%v", err)
	}
	routes := []gate.Route{{Method: "GET", Template: "/a"}, {Method: "HEAD", Template: "/a"}, {Method: "POST", Template: "/a"}, {Method: "GET", Template: "/a/{id:[0-9]+}"},
		{Method: "GET", Template: "/tree"}, {Method: "CONNECT", Template: "/tree"}, {Method: "GET", Template: "/files/{name}"}, {Method: "CONNECT", Template: "/c"},
		{Method: "GET", Template: "/alone"}, {Method: "GET", Template: "/"}}
	if err := protect.CheckHandler(protect.Mux(muxOf(all...)), routes); err != nil {
		t.Error(err)
	}
	var ran atomic.Int32
	outside := http.NewServeMux()
	outside.Handle("/", protect.Mux(muxOf(all...)))
	outside.HandleFunc("/alone", func(http.ResponseWriter, *http.Request) { ran.Add(1) })
	another, _ := gateOf(t, around, gate.Config{})
	outside.Handle("/a/{id}", another.Middleware(sees("another")))
	err = protect.CheckHandler(outside, append(routes, gate.Route{Method: "GET", Template: "/more"}))
	if !errors.As(err, &differ) || !slices.Equal(differ.Ungated, []string{"GET /a/{id:[0-9]+}", "GET /alone"}) || len(differ.Undeclared) != 1 || ran.Load() != 1 {
		t.Errorf("%v", err)
	}
	if text := err.Error(); !strings.Contains(text, "`GET /alone`") || !strings.Contains(text, "`GET /more`") {
		t.Error(text)
	}
}

// A WebSocket handshake is the GET that it is: it is decided once, and then the handler has the connection.
func TestAWebSocketHandshakeIsDecidedAsGET(t *testing.T) {
	protect, token := gateOf(t, around, gate.Config{})
	mux := http.NewServeMux()
	mux.Handle("/a/{id}", gate.HandlerFunc(func(w http.ResponseWriter, r *http.Request, _ gate.Call) {
		connection, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer connection.Close()
		_, _ = buffered.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		_ = buffered.Flush()
	}))
	server := httptest.NewServer(protect.Mux(mux))
	defer server.Close()
	handshake := []string{"Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="}
	for _, row := range []struct {
		line, token string
		status      int
	}{{"GET /a/7", token, 101}, {"GET /a/7", "", 401}, {"POST /a/7", token, 405}, {"GET /alone", token, 404}} {
		headers := handshake
		if row.token != "" {
			headers = append(headers[:len(headers):len(headers)], bearer(row.token))
		}
		if status, _ := send(t, server, row.line, headers...); status != row.status {
			t.Errorf("%s: %d", row.line, status)
		}
	}
}

// HTTP/2 without TLS: the server gives each stream to the gate.
func TestEveryStreamOfHTTP2IsDecided(t *testing.T) {
	protect, token := gateOf(t, around, gate.Config{})
	server := httptest.NewUnstartedServer(protect.Mux(muxOf("/a", "/a/{id}", "/more")))
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetHTTP1(true)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	defer server.Close()
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	for _, row := range []struct {
		target, token string
		status        int
	}{{"/a/7", token, 200}, {"/a/7", "", 401}, {"/a", token, 200}, {"/more", token, 404}, {"/a/", token, 400}} {
		request, err := http.NewRequest("GET", server.URL+row.target, nil)
		if err != nil {
			t.Fatal(err)
		}
		if row.token != "" {
			request.Header.Set("Authorization", "Bearer "+row.token)
		}
		response, err := transport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != row.status || response.ProtoMajor != 2 {
			t.Errorf("%s: %s %d", row.target, response.Proto, response.StatusCode)
		}
	}
}

// A token without scopes gives an empty string of the C library. If a stack grows while it is being read, the runtime checks its address.
func TestAStackMayGrowWhileAnAnswerIsRead(t *testing.T) {
	issuer := newIssuer(t)
	protect := newGate(t, issuer, gate.Config{})
	authorization := []string{"Bearer " + issuer.token(t, "ec", map[string]any{"scope": ""})}
	request := gate.Request{Method: "GET", Target: orbs, Authorization: authorization}
	if answer := protect.Ask(t.Context(), request); answer.Decision.Reason() != orbgate.ReasonScopeMissing {
		t.Fatalf("%v %s", answer.Decision, answer.Refused)
	}
	// Each goroutine starts with a small stack and asks at a different depth. Profiling every allocation takes more stack, so several of
	// these stacks grow while the answer is being read.
	defer func(rate int) { runtime.MemProfileRate = rate }(runtime.MemProfileRate)
	runtime.MemProfileRate = 1
	for depth := range 256 {
		done := make(chan gate.Answer)
		go func() { done <- deeper(depth, func() gate.Answer { return protect.Ask(t.Context(), request) }) }()
		if answer := <-done; answer.IsAllow() {
			t.Fatal("allowed")
		}
	}
}

//go:noinline
func deeper(depth int, ask func() gate.Answer) gate.Answer {
	if depth == 0 {
		return ask()
	}
	return deeper(depth-1, ask)
}

func TestAPatternOfAnotherMethodHasNoTemplate(t *testing.T) {
	for _, row := range [][3]string{
		{"GET", "GET /orders", "/orders"}, {"HEAD", "GET /orders", "/orders"}, {"HEAD", "POST /orders", ""}, {"POST", "GET /orders", ""}, {"HEAD", "/orders", "/orders"},
	} {
		if template := gate.Pattern(&http.Request{Method: row[0], Pattern: row[1]}); template != row[2] {
			t.Errorf("%s of `%s`: `%s`", row[0], row[1], template)
		}
	}
}
