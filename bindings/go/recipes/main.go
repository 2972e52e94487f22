// Recipes is Go's gate program, with a framework from each recipe. The driver of policy/cases/gate starts it; by hand:
//
//	cargo xtask gate go chi --listen 127.0.0.1:8080 --policy policy/external.yaml --tokens tokens.yaml
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	"github.com/labstack/echo/v4"

	"github.com/orbgate/orbgate/bindings/go/orbgate"
	"github.com/orbgate/orbgate/bindings/go/orbgate/gate"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

// What is given on the command line.
type arguments struct {
	framework, listen, policy, tokens, challenge string
	ledger, secret, db, cancelled, broken        string
	ceiling                                      string
	mcp, origin, toolError, inputRequired        string
	sdk, work                                    string
	public, amount, bonus                        []string
	watch                                        string
	ungated, refuseWider, debug, chargeSessions  bool
	sdkJSON                                      bool
}

func read(words []string) (given arguments, err error) {
	given.framework = "net/http"
	if len(words) > 0 && !strings.HasPrefix(words[0], "-") {
		given.framework, words = words[0], words[1:]
	}
	settings := map[string]*string{"--listen": &given.listen, "--policy": &given.policy, "--tokens": &given.tokens, "--challenge": &given.challenge,
		"--ledger": &given.ledger, "--ledger-secret": &given.secret, "--ledger-db": &given.db, "--on-cancelled": &given.cancelled,
		"--on-broken": &given.broken, "--ceiling": &given.ceiling,
		"--sdk": &given.sdk, "--work": &given.work, "--mcp": &given.mcp, "--mcp-origin": &given.origin, "--on-tool-error": &given.toolError, "--on-input-required": &given.inputRequired, "--watch": &given.watch}
	flags := map[string]*bool{"--ungated": &given.ungated, "--refuse-wider": &given.refuseWider, "--debug": &given.debug,
		"--charge-sessions": &given.chargeSessions, "--sdk-json": &given.sdkJSON}
	lists := map[string]*[]string{"--public": &given.public, "--amount": &given.amount, "--bonus": &given.bonus}
	for len(words) > 0 {
		setting, known := settings[words[0]]
		list, listed := lists[words[0]]
		flag, is := flags[words[0]]
		switch {
		case is:
			*flag = true
			words = words[1:]
		case listed && len(words) > 1:
			*list = append(*list, words[1])
			words = words[2:]
		case known && len(words) > 1:
			*setting = words[1]
			words = words[2:]
		default:
			return given, fmt.Errorf("what is `%s`?", words[0])
		}
	}
	return given, nil
}

func run() error {
	given, err := read(os.Args[1:])
	if err != nil {
		return err
	}
	engine, err := orbgate.FromFile(given.policy)
	if err != nil {
		return err
	}
	tokens, err := os.ReadFile(given.tokens)
	if err != nil {
		return err
	}
	config := gate.Config{Policy: orbgate.NewHandle(engine), Tokens: string(tokens), Public: given.public, Count: counted.add, Audit: audited{}}
	config.Challenge.Full = given.challenge == "full"
	if config.RefuseWider, config.Debug = given.refuseWider, given.debug; given.debug {
		slog.SetLogLoggerLevel(slog.LevelDebug)
	}
	if given.ledger != "" {
		costs := map[string]gate.Cancelled{"capture": gate.Capture, "void": gate.Void, "stated": gate.Stated}
		ceiling, _ := strconv.Atoi(given.ceiling)
		config.Ledger = &gate.Ledger{
			URL: given.ledger, SecretFile: given.secret, OnCancelled: costs[given.cancelled], Amounts: amounts(given.amount),
			OnToolError: costs[given.toolError], OnInputRequired: costs[given.inputRequired],
			OnBroken: costs[given.broken], Ceiling: ceiling,
		}
		config.MCP.Path, config.MCP.ChargeSessions = given.mcp, given.chargeSessions
		if given.origin != "" {
			config.MCP.Origins = []string{given.origin}
		}
		if len(given.bonus) > 0 {
			config.BonusFromBody = 1000
		}
	}
	if given.framework == "gin" || given.framework == "echo" {
		config.Templates = gate.Colons
	}
	protect, err := gate.New(config)
	if err != nil {
		return err
	}
	outside := protect
	if given.ungated {
		outside = nil
	}
	routes := declared(engine, given.public)
	if given.mcp != "" {
		routes = []string{given.mcp}
	}
	handler, err := router(given.framework, routes, outside)
	if err != nil {
		return err
	}
	if given.sdk != "" {
		handler = outside.Middleware(sdk(declared(engine, nil), given.work, given.sdkJSON))
	}
	engine.Close()
	listener, err := net.Listen("tcp", given.listen)
	if err != nil {
		return err
	}
	say("listening " + listener.Addr().String())
	go obey(os.Stdin, given.policy, protect)
	if ms, err := strconv.Atoi(given.watch); err == nil {
		if err := protect.Watch(given.policy, time.Duration(ms)*time.Millisecond); err != nil {
			return err
		}
	}
	// `OPTIONS *` is a request like any other.
	server := &http.Server{Handler: handler, DisableGeneralOptionsHandler: true}
	return server.Serve(listener)
}

// The function of these routes, whose amount is in a header.
func amounts(routes []string) map[string]func(*http.Request, *gate.Token) (uint64, error) {
	all := map[string]func(*http.Request, *gate.Token) (uint64, error){}
	for _, route := range routes {
		all[route] = func(r *http.Request, _ *gate.Token) (uint64, error) {
			return strconv.ParseUint(r.Header.Get("X-Orbs"), 10, 64)
		}
	}
	return all
}

// A service with every template of the policy that the router can have; all else reaches the same handler by a fallback.
func router(framework string, declared []string, protect *gate.Gate) (http.Handler, error) {
	handler := http.Handler(http.HandlerFunc(sayWhatCame))
	fallback := handler
	if protect != nil {
		fallback = protect.Middleware(handler)
	}
	switch framework {
	case "net/http":
		mux := http.NewServeMux()
		all := templates(declared, "{", "}", ":")
		// Of two that the mux does not take together, the one that wins in the policy: a literal before a parameter.
		order := func(template string) string { return strings.ReplaceAll(template, "{", "\x7f") }
		slices.SortFunc(all, func(one, two string) int { return strings.Compare(order(one), order(two)) })
		for _, template := range all {
			register(func() { mux.Handle(template, handler) })
		}
		gated := http.Handler(mux)
		if protect != nil {
			gated = protect.Mux(mux)
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, pattern := mux.Handler(r); pattern == "" {
				fallback.ServeHTTP(w, r)
				return
			}
			gated.ServeHTTP(w, r)
		}), nil
	case "chi":
		mux := chi.NewRouter()
		routes := chi.Router(mux)
		if protect != nil {
			routes = mux.With(Chi(protect))
		}
		for _, template := range templates(declared, "{", "}", ":") {
			register(func() { routes.Handle(template, handler) })
		}
		mux.NotFound(fallback.ServeHTTP)
		mux.MethodNotAllowed(fallback.ServeHTTP)
		return mux, nil
	case "gin":
		gin.SetMode(gin.ReleaseMode)
		mux := gin.New()
		mux.RedirectTrailingSlash = false
		routes := mux.Group("")
		if protect != nil {
			routes.Use(Gin(protect))
		}
		for _, template := range templates(declared, ":", "", "") {
			register(func() { routes.Any(template, gin.WrapH(handler)) })
		}
		mux.NoRoute(func(c *gin.Context) {
			c.Status(http.StatusOK) // unless the gate or the handler says another one
			fallback.ServeHTTP(c.Writer, c.Request)
			c.Writer.WriteHeaderNow()
		})
		return mux, nil
	case "echo":
		mux := echo.New()
		routes := mux.Group("")
		if protect != nil {
			routes.Use(Echo(protect))
		}
		for _, template := range templates(declared, ":", "", `\:`) {
			register(func() { routes.Any(template, echo.WrapHandler(handler)) })
		}
		mux.RouteNotFound("/*", echo.WrapHandler(fallback))
		echo.MethodNotAllowedHandler = echo.WrapHandler(fallback)
		return mux, nil
	}
	return nil, fmt.Errorf("no recipe for `%s`", framework)
}

// Registers a route, unless the router cannot have it: net/http takes no two patterns of which neither is the more specific. The fallback gets
// its requests.
func register(route func()) {
	defer func() {
		if refused := recover(); refused != nil {
			fmt.Fprintln(os.Stderr, refused)
		}
	}()
	route()
}

// The templates of a policy and of the public routes.
func declared(engine *orbgate.Engine, public []string) []string {
	var all []string
	for _, route := range engine.Routes() {
		all = append(all, route.Template)
	}
	for _, route := range public {
		_, template, _ := strings.Cut(route, " ")
		all = append(all, template)
	}
	return all
}

// Templates, as a router writes them, which wants one name for all parameters at one position. A literal colon is written as
// this, or not at all.
func templates(declared []string, before, after, colon string) []string {
	var all []string
	seen := map[string]bool{}
	for _, template := range declared {
		// A wildcard to gin and echo; and gin has a colon only where it serves by itself.
		if before == ":" && strings.Contains(template, "*") || colon == "" && strings.Contains(template, ":") {
			continue
		}
		segments := strings.Split(template, "/")
		for at, segment := range segments {
			if strings.HasPrefix(segment, "{") {
				segments[at] = fmt.Sprintf("%sp%d%s", before, at, after)
			} else {
				segments[at] = strings.ReplaceAll(segment, ":", colon)
			}
		}
		written := strings.Join(segments, "/")
		if !seen[written] {
			seen[written] = true
			all = append(all, written)
		}
	}
	return all
}

// What the service saw.
type seenRequest struct {
	Method   string  `json:"method"`
	Target   string  `json:"target"`
	Route    *string `json:"route"`
	Scope    *string `json:"scope"`
	Kind     *string `json:"kind"`
	Consumes *bool   `json:"consumes"`
	Stated   *bool   `json:"stated,omitempty"`
	Body     *string `json:"body,omitempty"`
}

func sayWhatCame(w http.ResponseWriter, r *http.Request) {
	seen := seenRequest{Method: r.Method, Target: r.RequestURI}
	if call, gated := gate.From(r.Context()); gated {
		kind := map[orbgate.TokenKind]string{orbgate.KindUser: "user", orbgate.KindOrganisation: "organisation"}[call.Token.Kind]
		seen.Route, seen.Scope, seen.Kind = stated(call.Decision.Route()), stated(call.Decision.Scope()), stated(kind)
		if charge, stated := call.Decision.Charge(); stated {
			seen.Consumes = &charge.Consumes
		}
	}
	told := r.Header.Get("X-Do")
	if rest, is := strings.CutPrefix(told, "state "); is {
		amount, then, _ := strings.Cut(rest, ", ")
		told = then
		call, _ := gate.From(r.Context())
		orbs, _ := strconv.ParseUint(amount, 10, 64)
		stated := call.StateOrbs(orbs)
		seen.Stated = &stated
	}
	if told == "echo" {
		body, _ := io.ReadAll(r.Body)
		text := string(body)
		seen.Body = &text
	}
	text := new(strings.Builder)
	encoder := json.NewEncoder(text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(seen)
	line := strings.TrimSuffix(text.String(), "\n")
	say(line)
	if told == "respond" {
		respond(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	answer(w, r, told, line)
}

// Answers as the arguments of a call at an MCP endpoint describe it.
func respond(w http.ResponseWriter, r *http.Request) {
	var call struct {
		Params struct {
			Arguments struct {
				Status  int      `json:"status"`
				Headers []string `json:"headers"`
				Body    string   `json:"body"`
				Closed  bool     `json:"closed"`
			} `json:"arguments"`
		} `json:"params"`
	}
	if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
		panic(err)
	}
	row := call.Params.Arguments
	for _, line := range row.Headers {
		name, value, _ := strings.Cut(line, ": ")
		w.Header().Set(name, value)
	}
	w.WriteHeader(row.Status)
	half := len(row.Body) / 2
	if row.Closed {
		half = len(row.Body)
	}
	for _, piece := range []string{row.Body[:half], row.Body[half:]} {
		_, _ = io.WriteString(w, piece)
		_ = http.NewResponseController(w).Flush()
	}
	for row.Closed && r.Context().Err() == nil {
		time.Sleep(10 * time.Millisecond)
		_, _ = io.WriteString(w, ":\n")
		_ = http.NewResponseController(w).Flush()
	}
}

// What the service answers, as it is told.
func answer(w http.ResponseWriter, r *http.Request, told, line string) {
	switch {
	case told == "throw" || told == "stream that fails at once":
		panic(http.ErrAbortHandler)
	case strings.Contains(told, "stream"):
		for {
			_, err := io.WriteString(w, line)
			_ = http.NewResponseController(w).Flush()
			switch {
			case told == "stream that fails":
				panic(http.ErrAbortHandler)
			case told != "endless stream" || err != nil || r.Context().Err() != nil:
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	case told == "large":
		line = strings.Repeat(line, 20000)
		w.Header().Set("Content-Length", strconv.Itoa(len(line)))
	}
	if status, err := strconv.Atoi(told); err == nil {
		w.WriteHeader(status)
	}
	_, _ = io.WriteString(w, line)
}

// A text, if it is one.
func stated(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

var output sync.Mutex

// Writes a line, whole.
func say(line string) {
	output.Lock()
	defer output.Unlock()
	fmt.Println(line)
}

// What is said on standard input.
func obey(input io.Reader, policy string, protect *gate.Gate) {
	for commands := bufio.NewScanner(input); commands.Scan(); {
		switch commands.Text() {
		case "reload":
			if err := protect.Reload(policy); err != nil {
				say("kept")
			} else {
				say("reloaded")
			}
		case "count":
			say("counted " + counted.json())
		}
	}
}

// Says each line of the audit.
type audited struct{}

func (audited) Write(line []byte) (int, error) {
	say("audited " + strings.TrimSuffix(string(line), "\n"))
	return len(line), nil
}

// The counters: each by its labels, as the driver asks for them.
type counters struct {
	mutex sync.Mutex
	by    map[string]map[string]int
}

var counted = counters{by: map[string]map[string]int{
	"orbgate_decisions_total": {}, "orbgate_tokens_refused_total": {}, "orbgate_misrouted_total": {}, "orbgate_policy_loads_total": {},
	"orbgate_over_ceiling_total": {},
}}

func (c *counters) add(name string, labels ...gate.Label) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if by := c.by[name]; by != nil {
		var values []string
		for _, label := range labels {
			values = append(values, label.Value)
		}
		by[strings.Join(values, " ")]++
	}
}

func (c *counters) json() string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	misrouted := 0
	for _, count := range c.by["orbgate_misrouted_total"] {
		misrouted += count
	}
	text, _ := json.Marshal(map[string]any{
		"orbgate_decisions_total": c.by["orbgate_decisions_total"], "orbgate_tokens_refused_total": c.by["orbgate_tokens_refused_total"],
		"orbgate_misrouted_total": misrouted, "orbgate_policy_loads_total": c.by["orbgate_policy_loads_total"],
		"orbgate_over_ceiling_total": c.by["orbgate_over_ceiling_total"],
	})
	return string(text)
}
