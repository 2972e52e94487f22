package gate

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/orbgate/orbgate/bindings/go/orbgate/internal/steps"
)

// An MCP is an endpoint of the Model Context Protocol, whose requests are decided by the operations in their bodies. In a
// policy, an operation is a route of the method MCP, such as `MCP /mcp/tools/call/refund`.
type MCP struct {
	// Path is the endpoint's path, such as /mcp. Empty if there is no endpoint.
	Path string
	// InitialScopes are the scopes that a client without a token should ask for, separated by spaces. The metadata lists
	// them, too.
	InitialScopes string
	// MostBytes is the length of the longest body, at most 8 MiB. The default is 4 MiB.
	MostBytes uint32
	// DenyLegacy denies requests of protocol versions whose headers don't repeat the body.
	DenyLegacy bool
	// ChargeSessions accepts calls in sessions that consume orbs from a ledger: each costs what is held, however it ends. By default,
	// they are denied.
	ChargeSessions bool
	// Origins are those whose pages may send requests and read the responses, such as https://app.example: the gate answers preflights, and
	// replaces the headers of CORS that the handler sets. The default is none.
	Origins []string
}

// Visible returns those of these names that a token may pass to a method of the MCP endpoint: tools to tools/call, prompts to prompts/get,
// and URIs to resources/read. The gate doesn't filter lists, because a client asks for a scope only when it calls something that needs it. A
// server whose tokens never get more scopes can list only these.
func (g *Gate) Visible(token *Token, method string, names []string) []string {
	engine := g.config.Policy.Load()
	defer engine.Close()
	question := steps.Visible{Kind: uint64(token.Kind), Scopes: token.Scopes, Method: method, Names: names}
	step := new(steps.Step)
	if g.raw.Ask(engine, &question, step) != nil {
		return nil
	}
	return strings.Fields(step.VisibleNames.Names)
}

// ErrTooLarge is what [Request.Body] returns for a body that is longer than allowed.
var ErrTooLarge = errors.New("gate: the body is too large")

var errBusy = errors.New("gate: there is no room for the body")

// The question with the body of a request whose token is valid.
func (g *Gate) bodyOf(request Request, ask steps.ReadBody) *steps.Body {
	var body []byte
	err := errors.New("gate: nobody can read the body")
	if request.Body != nil {
		err = caught(func() (err error) {
			body, err = request.Body(int64(ask.MostBytes), int64(ask.MostHeld))
			return err
		})
	}
	question := &steps.Body{TooLarge: errors.Is(err, ErrTooLarge), Busy: errors.Is(err, errBusy), Unreadable: err != nil}
	if err == nil {
		question.Body = string(body)
	}
	for name, values := range request.Header {
		if lower := strings.ToLower(name); strings.HasPrefix(lower, "content") || strings.HasPrefix(lower, "mcp") {
			for _, value := range values {
				question.Headers = append(question.Headers, steps.Header{Name: name, Value: value})
			}
		}
	}
	question.UnixMS, _ = g.now()
	return question
}

// Reads the whole body of a request, up to so many bytes, and lets the service read the same. All bodies that are read this
// way and that no service has read yet have at most so many bytes.
func (g *Gate) readHeld(r *http.Request, most, mostHeld int64) ([]byte, error) {
	if r.ContentLength > most {
		return nil, ErrTooLarge
	}
	needed := most
	if r.ContentLength >= 0 {
		needed = r.ContentLength
	}
	if g.held.Add(needed) > mostHeld {
		g.held.Add(-needed)
		return nil, errBusy
	}
	release := sync.OnceFunc(func() { g.held.Add(-needed) })
	body, err := readBody(r, most)
	if err != nil {
		release()
		return nil, err
	}
	// A server ends the context of a request when its handler returns.
	context.AfterFunc(r.Context(), release)
	r.Body = &heldBody{r.Body, release}
	return body, nil
}

// Reads the body of a request, up to so many bytes, and lets the service read the same, or get the same error.
func readBody(r *http.Request, most int64) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	if r.ContentLength > most {
		return nil, ErrTooLarge
	}
	var read bytes.Buffer
	err := caught(func() error {
		_, err := read.ReadFrom(io.LimitReader(r.Body, most+1))
		return err
	})
	body := read.Bytes()
	// First the bytes that were read, and then the rest, or the same error.
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), r.Body), r.Body}
	if err == nil && int64(len(body)) > most {
		err = ErrTooLarge
	}
	return body, err
}

// A body that is held until it is read.
type heldBody struct {
	io.ReadCloser
	release func()
}

func (b *heldBody) Read(to []byte) (int, error) {
	count, err := b.ReadCloser.Read(to)
	if err != nil {
		b.release()
	}
	return count, err
}

func (b *heldBody) Close() error {
	b.release()
	return b.ReadCloser.Close()
}
