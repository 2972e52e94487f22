package gate

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/orbgate/orbgate/bindings/go/orbgate/internal/steps"
	"github.com/orbgate/orbgate/bindings/go/orbgate/internal/terms"
)

// A Ledger is the ledger service in which a gate holds the orbs of each call that consumes before its handler runs, and charges
// them if it succeeds. URL, OnCancelled, and one of Secret and SecretFile are required.
type Ledger struct {
	// URL is https, http and a loopback address, or unix: and a path.
	URL string
	// Secret is the secret of gates. SecretFile is its file, which is read again by [Gate.Reload], and when the service refuses
	// the old one.
	Secret, SecretFile string
	// OnCancelled is what a call costs whose caller left before its answer was complete. OnBroken is what one costs whose handler
	// panicked after the first byte; if it is 0, OnCancelled counts.
	OnCancelled, OnBroken Cancelled
	// OnToolError and OnInputRequired are what a call at an MCP endpoint costs whose result has isError, or asks for input. A gate
	// with an endpoint needs both.
	OnToolError, OnInputRequired Cancelled
	// TTL is how long a hold lasts if the process stops. The default is a minute.
	TTL time.Duration
	// Timeout is how long a call waits for the service before it is denied. The default is two seconds.
	Timeout time.Duration
	// Queue is how many settlements can wait for the service. The default is 4,096.
	Queue int
	// A call costs at most its hold times Ceiling, whatever its handler states. The default is 1. What is over is logged and counted.
	Ceiling int
	// Amounts has a function for each route whose amount the policy doesn't state, named as in the policy. 0 holds nothing. If
	// one fails or panics, the call is denied.
	Amounts map[string]func(*http.Request, *Token) (uint64, error)
	// Client sends the messages. The default has the settings of [http.DefaultTransport].
	Client *http.Client
}

// Cancelled is what a call costs whose answer wasn't complete, and at an MCP endpoint what some results cost.
type Cancelled int

const (
	// Capture charges the held amount, or what the handler has stated.
	Capture Cancelled = iota + 1
	// Void charges nothing.
	Void
	// Stated charges what the handler has stated so far, and nothing if it has stated nothing.
	Stated
)

func (c Cancelled) captures() bool { return c == Capture || c == Stated }

func (c Cancelled) voids() bool { return c == Void || c == Stated }

func (c Cancelled) isStated() bool { return c.captures() || c.voids() }

var errOutside = errors.New("gate: a gate with a ledger charges in Mux, Middleware and ServeRouted, which see how a handler ends")

// The holds of a gate in its ledger service.
type orbs struct {
	gate   *Gate
	ledger Ledger
	client *http.Client
	use    steps.UseLedger
	// Of the step, which is asked one question after another.
	mutex sync.Mutex
	step  *steps.Step
	at    steps.LedgerAt
	// What was counted of the step, and whether it has settlements or the settling goroutine has to look for some.
	counted   steps.Ledgered
	isWaiting bool
	wake      chan struct{}
	amounts   map[string]func(*http.Request, *Token) (uint64, error)
}

func newOrbs(g *Gate, ledger Ledger) (*orbs, error) {
	if (ledger.Secret == "") == (ledger.SecretFile == "") {
		return nil, errors.New("gate: a ledger needs either Secret or SecretFile")
	}
	use := steps.UseLedger{
		CapturesCancelled: ledger.OnCancelled.captures(), VoidsCancelled: ledger.OnCancelled.voids(),
		CapturesBroken: ledger.OnBroken.captures(), VoidsBroken: ledger.OnBroken.voids(), Ceiling: uint64(ledger.Ceiling),
		TTLMS: uint64(ledger.TTL.Milliseconds()), TimeoutMS: uint64(ledger.Timeout.Milliseconds()), Queue: uint64(ledger.Queue),
		CapturesToolErrors: ledger.OnToolError.captures(), VoidsToolErrors: ledger.OnToolError.voids(),
		CapturesInputRequired: ledger.OnInputRequired.captures(), VoidsInputRequired: ledger.OnInputRequired.voids(),
	}
	if g.config.MCP.Path != "" && !(ledger.OnToolError.isStated() && ledger.OnInputRequired.isStated()) {
		return nil, errors.New("gate: a gate with an MCP endpoint needs a ledger with OnToolError and OnInputRequired")
	}
	if !ledger.OnCancelled.isStated() {
		return nil, errors.New("gate: OnCancelled is Capture, Void or Stated; it has no default")
	}
	if ledger.OnBroken != 0 && !ledger.OnBroken.isStated() {
		return nil, errors.New("gate: OnBroken is Capture, Void, Stated or 0")
	}
	if ledger.Ceiling < 0 {
		return nil, errors.New("gate: Ceiling is negative")
	}
	o := &orbs{gate: g, ledger: ledger, client: clientOf(ledger.Client), use: use, wake: make(chan struct{}, 1)}
	o.amounts = map[string]func(*http.Request, *Token) (uint64, error){}
	for route, amount := range ledger.Amounts {
		o.amounts[shapeOf(route)] = amount
	}
	if err := o.readSecret(); err != nil {
		return nil, err
	}
	if socket := o.at.Socket; socket != "" {
		if ledger.Client != nil {
			return nil, errors.New("gate: a ledger over a Unix socket has a Client of its own")
		}
		o.client.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		}}
	}
	if _, err := o.ask(nil); err != nil {
		return nil, fmt.Errorf("gate: %w", err)
	}
	go o.settle()
	return o, nil
}

// A route without the names of its parameters.
func shapeOf(route string) string {
	segments := strings.Split(route, "/")
	for at, segment := range segments {
		if strings.HasPrefix(segment, "{") {
			segments[at] = "{}"
		}
	}
	return strings.Join(segments, "/")
}

func (o *orbs) readSecret() error {
	secret := o.ledger.Secret
	if o.ledger.SecretFile != "" {
		text, err := os.ReadFile(o.ledger.SecretFile)
		if err != nil {
			return fmt.Errorf("gate: cannot read a ledger's secret: %w", err)
		}
		secret = string(text)
	}
	var step steps.Step
	if err := o.gate.raw.Ask(nil, &steps.CheckLedger{URL: o.ledger.URL, Secret: secret}, &step); err != nil {
		return fmt.Errorf("gate: %w", err)
	}
	o.mutex.Lock()
	defer o.mutex.Unlock()
	o.at = step.LedgerAt
	return nil
}

// Whether each route of this engine that consumes has an amount, each function a route, and tokens an account. Then it states how the gate
// charges.
func (o *orbs) check(engine any, stated *steps.Step) error {
	return o.gate.raw.Ask(engine, &steps.CheckAmounts{Functions: o.functions()}, stated)
}

// The routes with a function that states the amount.
func (o *orbs) functions() []string {
	functions := make([]string, 0, len(o.ledger.Amounts))
	for route := range o.ledger.Amounts {
		functions = append(functions, route)
	}
	return functions
}

// Uncharged states that the gate decides for a server whose handlers it doesn't run, so that it can't charge. A gate with a ledger denies
// every call of such a server, and its log says so once.
func (g *Gate) Uncharged() {
	if g.orbs != nil {
		g.once("every call of this server is denied", "error", errOutside)
	}
}

// Asks the ledger's step, and returns a copy of the answer. If the library has lost the step, so are its holds, and it begins again.
func (o *orbs) ask(question steps.Question) (steps.Reply, error) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.step == nil {
		step := new(steps.Step)
		if err := o.gate.raw.Ask(nil, &o.use, step); err != nil {
			return steps.Reply{}, err
		}
		o.step, o.counted = step, steps.Ledgered{}
	}
	if question != nil {
		if err := o.gate.raw.Ask(nil, question, o.step); err != nil {
			if o.step.Handle == 0 {
				o.step = nil
			}
			return steps.Reply{}, err
		}
	}
	reply := o.step.Reply
	if reply.Number == steps.KindLedgered {
		o.isWaiting = reply.Ledgered.Waiting > 0
	}
	reply.HoldStep.Body, reply.LedgerCall.Body = bytes.Clone(reply.HoldStep.Body), bytes.Clone(reply.LedgerCall.Body)
	return reply, nil
}

// Ends the ledger's step, and with it the settlements that nobody has waited for.
func (o *orbs) close() {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	if o.step != nil {
		o.gate.raw.Drop(o.step)
	}
}

// The question of a request whose handler is about to run.
func (o *orbs) charge(r *http.Request, answer Answer) steps.Ask {
	charge := steps.Ask{Charges: true}
	amount, known := o.amounts[shapeOf(answer.Decision.Route())]
	if !known {
		return charge
	}
	err := o.gate.guarded("Amounts", func() (err error) {
		charge.Amount, err = amount(r, answer.Token)
		return err
	})
	charge.HasAmount, charge.AmountFailed = err == nil, err != nil
	if err != nil {
		o.gate.config.Logger.Error("a call is denied: its amount cannot be determined", "route", answer.Decision.Route(), "error", err)
	}
	return charge
}

// Holds the orbs of an allowed request. The answer denies it if they can't be held.
func (o *orbs) hold(r *http.Request, request Request, answer Answer, step *steps.Step) (Answer, *steps.Step) {
	if !answer.consumes() || answer.Preflight {
		return answer, step
	}
	id := make([]byte, 16)
	rand.Read(id)
	charge := o.charge(r, answer)
	charge.Hold = string(id)
	request.charge = &charge
	first, step := o.gate.ask(r.Context(), request, step)
	if first.charge == nil {
		return first, step
	}
	last, err := o.held(r.Context(), string(id), first.charge)
	if err != nil {
		o.gate.raw.Drop(step)
		return Answer{Status: http.StatusForbidden, Err: err}, nil
	}
	o.gate.count(terms.HoldsTotal, Label{terms.LabelResult, last.Result})
	o.send()
	if last.MayRun {
		answer.held = &held{orbs: o, id: string(id), name: first.charge.HoldID}
		step.Answer.Audit = first.charge.Audit
		if mcpID := string(first.charge.McpID); mcpID != "" {
			answer.held.ask(&steps.ReadResponse{McpID: mcpID, McpLegacy: first.charge.McpLegacy, McpSession: first.charge.McpSession})
		}
		return answer, step
	}
	charge.Unpaid, charge.RetryAfterMS = last.Unpaid, last.RetryAfterMS
	return o.gate.ask(r.Context(), request, step)
}

// Does one step after another, until the handler may run or the call is denied.
func (o *orbs) held(ctx context.Context, id string, charge *steps.Charge) (steps.HoldStep, error) {
	_, monotonicMS := o.gate.now()
	reply, err := o.ask(&steps.Hold{
		ID: id, Account: string(charge.Account), Amount: charge.Amount, Bonus: charge.Bonus, Note: string(charge.Note), MonotonicMS: monotonicMS,
	})
	for err == nil {
		next := reply.HoldStep
		if reply.Number != steps.KindHoldStep {
			return next, errors.New("gate: a ledger's step has answered another question")
		}
		switch {
		case next.Path != "":
			status, body := o.post(next.Path, next.Body, next.TimeoutMS)
			unixMS, monotonicMS := o.gate.now()
			reply, err = o.ask(&steps.Held{ID: id, Status: status, Body: body, UnixMS: unixMS, MonotonicMS: monotonicMS})
		case next.UntilMS != 0:
			select {
			case <-time.After(time.Until(o.gate.start.Add(time.Duration(next.UntilMS) * time.Millisecond))):
			case <-ctx.Done():
			}
			_, monotonicMS := o.gate.now()
			reply, err = o.ask(&steps.Waited{ID: id, MonotonicMS: monotonicMS})
		default:
			return next, nil
		}
		if ctx.Err() != nil && err == nil {
			// The caller has left before its handler began.
			o.ended(steps.Ended{ID: id, NeverRan: true})
			return next, ctx.Err()
		}
	}
	return steps.HoldStep{}, err
}

func (o *orbs) ended(ended steps.Ended) {
	_, ended.MonotonicMS = o.gate.now()
	reply, err := o.ask(&ended)
	if err != nil {
		o.gate.config.Logger.Error("a call is not charged", "error", err)
	}
	if notice := reply.Ledgered.Notice; err == nil && notice != "" {
		o.gate.config.Logger.Warn(notice)
	}
	o.send()
}

// Has the settling goroutine look again. A hold whose answer hasn't come in time is voided, which only its next message shows.
func (o *orbs) send() {
	o.mutex.Lock()
	o.isWaiting = true
	o.mutex.Unlock()
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// Flush waits until the ledger has taken all settlements. Call it after the server has stopped and before [Gate.Close], or else calls that
// have just ended are never charged.
func (g *Gate) Flush(ctx context.Context) error {
	for g.orbs != nil && g.orbs.hasSettlements() {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (o *orbs) hasSettlements() bool {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.isWaiting
}

// Settles and extends, until the gate is closed.
func (o *orbs) settle() {
	for {
		_, monotonicMS := o.gate.now()
		reply, err := o.ask(&steps.NextLedgerCall{MonotonicMS: monotonicMS})
		pause := time.Minute
		switch {
		case err != nil:
			pause = time.Second
		case reply.Number == steps.KindLedgerCall:
			status, body := o.post(reply.LedgerCall.Path, reply.LedgerCall.Body, reply.LedgerCall.TimeoutMS)
			_, monotonicMS = o.gate.now()
			_, _ = o.ask(&steps.LedgerCalled{Call: reply.LedgerCall.Call, Status: status, Body: body, MonotonicMS: monotonicMS})
			continue
		default:
			o.report(reply.Ledgered)
			if reply.Ledgered.Wakes {
				pause = time.Until(o.gate.start.Add(time.Duration(reply.Ledgered.WakeMS) * time.Millisecond))
			}
		}
		select {
		case <-o.wake:
		case <-time.After(max(pause, time.Millisecond)):
		case <-o.gate.background.Done():
			return
		}
	}
}

func (o *orbs) report(now steps.Ledgered) {
	for _, one := range []struct {
		result      string
		now, before uint64
	}{
		{"captured", now.Captured, o.counted.Captured}, {"voided", now.Voided, o.counted.Voided}, {"lost", now.Lost, o.counted.Lost},
	} {
		for range one.now - min(one.before, one.now) {
			o.gate.count(terms.SettlementsTotal, Label{terms.LabelResult, one.result})
		}
		if one.result == "lost" && one.now > one.before {
			o.gate.config.Logger.Error("settlements are lost: the ledger didn't take them before their holds expired", "count", one.now-one.before)
		}
	}
	for range now.Over - min(o.counted.Over, now.Over) {
		o.gate.count(terms.OverCeilingTotal)
	}
	o.counted = now
}

// Sends a message. The status is 0 without an answer.
func (o *orbs) post(path string, body []byte, timeoutMS uint64) (uint64, string) {
	ctx, cancel := context.WithTimeout(o.gate.background, time.Duration(timeoutMS)*time.Millisecond)
	defer cancel()
	at := o.place()
	status, answer, err := o.once(ctx, path, body, at)
	if err == nil && status == http.StatusUnauthorized && o.ledger.SecretFile != "" && o.readSecret() == nil {
		if again := o.place(); again.Secret != at.Secret {
			status, answer, err = o.once(ctx, path, body, again)
		}
	}
	failure := ""
	if err != nil {
		status, answer, failure = 0, "", reasonOf(err)
	}
	if reply, err := o.ask(&steps.LedgerReplied{URL: o.ledger.URL, Status: status, Body: answer, Failure: failure}); err == nil {
		o.gate.tell(reply.Done)
	}
	return status, answer
}

// Why there is no answer, without the URL and the addresses.
func reasonOf(err error) string {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err.Error()
}

// Where the service is, and its secret.
func (o *orbs) place() steps.LedgerAt {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.at
}

func (o *orbs) once(ctx context.Context, path string, body []byte, at steps.LedgerAt) (uint64, string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, at.Base+path, bytes.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Authorization", "Bearer "+at.Secret)
	request.Header.Set("Content-Type", "application/json")
	answer, err := o.client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, int64(at.MostBytes)+1))
	return uint64(answer.StatusCode), string(text), err
}

// What a request holds.
type held struct {
	orbs   *orbs
	id     string
	name   string // the id in the ledger
	mutex  sync.Mutex
	isOver bool
	stated *uint64
	// Reads the response to a call at an MCP endpoint; nil if nothing of it needs to be read any more.
	response *steps.Step
	// What it has said.
	responded uint64
}

// A message has a bounded size.
const mostPiece = 32 << 10

// Asks about the response.
func (h *held) ask(question steps.Question) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if _, isFirst := question.(*steps.ReadResponse); isFirst {
		h.response = new(steps.Step)
	}
	if h.response == nil {
		return
	}
	err := h.orbs.gate.raw.Ask(nil, question, h.response)
	if err == nil && h.response.Number == steps.KindResponded {
		h.responded = h.response.Responded.End
	}
	if err != nil || !h.response.Responded.Reads {
		h.orbs.gate.raw.Drop(h.response)
		h.response = nil
	}
}

// The response begins, with these headers.
func (h *held) begins(header http.Header) {
	var lines []steps.Header
	for name, values := range header {
		if strings.HasPrefix(name, "Content-") {
			for _, value := range values {
				lines = append(lines, steps.Header{Name: name, Value: value})
			}
		}
	}
	h.ask(&steps.ResponseBegins{Headers: lines})
}

// Whether the next piece of the response must be read.
func (h *held) reads() bool {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return h.response != nil
}

// A piece of the response passes.
func (h *held) passes(data []byte) {
	for len(data) > 0 && h.reads() {
		piece := data[:min(len(data), mostPiece)]
		h.ask(&steps.ResponsePiece{Piece: string(piece)})
		data = data[len(piece):]
	}
}

func (h *held) end(ended steps.Ended) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if h.isOver {
		return
	}
	h.isOver = true
	ended.ID, ended.Response = h.id, h.responded
	if h.response != nil {
		h.orbs.gate.raw.Drop(h.response)
		h.response = nil
	}
	if h.stated != nil {
		ended.IsStated, ended.Stated = true, *h.stated
	}
	h.orbs.ended(ended)
}

// Runs a handler, and settles by how it ends: by its status as soon as the answer is complete, even if nobody reads it.
func (h *held) run(next http.Handler, w http.ResponseWriter, r *http.Request) {
	seen := &charged{ResponseWriter: w, held: h}
	isDone := false
	defer func() {
		switch {
		case isDone && r.Context().Err() == nil:
			h.end(steps.Ended{Status: uint64(max(seen.status, http.StatusOK))})
		case isDone || seen.hasBegun:
			// If the caller has left, its handler's panic may come of that.
			hasLeft := r.Context().Err() != nil
			h.end(steps.Ended{Cancelled: hasLeft, Broken: !hasLeft})
		default:
			h.end(steps.Ended{})
		}
	}()
	next.ServeHTTP(seen, r)
	isDone = true
}

// A response whose completion settles.
type charged struct {
	http.ResponseWriter
	held     *held
	status   int
	hasBegun bool
	length   int64
	sent     int64
}

func (c *charged) WriteHeader(status int) {
	if c.status == 0 && status >= http.StatusOK {
		c.status, c.length = status, -1
		if length, err := strconv.ParseInt(c.Header().Get("Content-Length"), 10, 64); err == nil {
			c.length = length
		}
		if status >= http.StatusBadRequest {
			c.held.end(steps.Ended{Status: uint64(status)})
		}
		c.held.begins(c.Header())
	}
	c.ResponseWriter.WriteHeader(status)
}

func (c *charged) Write(data []byte) (int, error) {
	if c.status == 0 {
		c.WriteHeader(http.StatusOK)
	}
	c.hasBegun = c.hasBegun || len(data) > 0
	c.sent += int64(len(data))
	c.held.passes(data)
	if c.length >= 0 && c.sent >= c.length {
		c.held.end(steps.Ended{Status: uint64(c.status)})
	}
	return c.ResponseWriter.Write(data)
}

// Unwrap is for [http.ResponseController].
func (c *charged) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// Flush sends what is written.
func (c *charged) Flush() {
	if c.status == 0 {
		c.WriteHeader(http.StatusOK)
	}
	_ = http.NewResponseController(c.ResponseWriter).Flush()
}

// Hijack is a handshake, which is charged.
func (c *charged) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	connection, buffer, err := http.NewResponseController(c.ResponseWriter).Hijack()
	if err == nil {
		c.held.end(steps.Ended{Status: http.StatusSwitchingProtocols})
	}
	return connection, buffer, err
}

// HoldID is the id of the hold in the ledger, for the service's own log; empty if nothing is held.
func (c Call) HoldID() string {
	if c.held == nil {
		return ""
	}
	return c.held.name
}

// StateOrbs charges this amount instead of the held one, if the call succeeds: at most the hold times [Ledger.Ceiling], and what the account
// has. The last statement before the answer is complete counts. It returns false if nothing is held.
func (c Call) StateOrbs(amount uint64) bool {
	if c.held == nil {
		return false
	}
	c.held.mutex.Lock()
	defer c.held.mutex.Unlock()
	c.held.stated = &amount
	return true
}
