package gate

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/orbgate/orbgate/bindings/go/orbgate/internal/steps"
)

// The client, which follows no redirect and keeps no cookies.
func clientOf(client *http.Client) *http.Client {
	own := http.Client{}
	if client != nil {
		own = *client
	} else if transport, is := http.DefaultTransport.(*http.Transport); is {
		transport = transport.Clone()
		if transport.TLSClientConfig == nil {
			transport.TLSClientConfig = new(tls.Config)
		}
		transport.TLSClientConfig.MinVersion = max(transport.TLSClientConfig.MinVersion, tls.VersionTLS12)
		own.Transport = transport
	}
	own.Jar = nil
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// The level of a notice. Another library may have fewer levels, or others.
func levelOf(levels []string, at int) slog.Level {
	switch {
	case at < len(levels) && levels[at] == "info":
		return slog.LevelInfo
	case at < len(levels) && levels[at] == "warning":
		return slog.LevelWarn
	}
	return slog.LevelError
}

func (g *Gate) tell(done steps.Done) {
	levels := strings.Split(done.Levels, "\n")
	for at, notice := range strings.Split(done.Notices, "\n") {
		if notice != "" {
			g.config.Logger.Log(context.Background(), levelOf(levels, at), notice)
		}
	}
}

// Starts pending calls in separate goroutines, so that a call continues if the request that caused it is cancelled.
func (g *Gate) startCalls() {
	for {
		step := new(steps.Step)
		if g.raw.Ask(nil, &steps.NextCall{MonotonicMS: g.monotonicMS()}, step) != nil || step.Number != steps.KindCall {
			g.tell(step.Done)
			return
		}
		g.mutex.Lock()
		if g.closed {
			g.mutex.Unlock()
			g.raw.Drop(step)
			return
		}
		g.fetching++
		g.mutex.Unlock()
		go g.run(step)
	}
}

// Runs an attempt to its end.
func (g *Gate) run(step *steps.Step) {
	for step.Number == steps.KindCall {
		call := &step.Call
		called, err := g.send(call)
		if err != nil {
			message := "keys cannot be fetched"
			if call.Body != nil {
				message = "an opaque token cannot be asked about"
				// Its text could quote the secret or the token.
				var of *url.Error
				if errors.As(err, &of) {
					err = of.Err
				}
				err = fmt.Errorf("%T", err)
			}
			g.config.Logger.Warn(message, "url", call.URL, "error", err)
		}
		called.Attempt, called.MonotonicMS = call.Attempt, g.monotonicMS()
		if g.raw.Ask(nil, &called, step) != nil {
			g.raw.Drop(step)
			break
		}
	}
	// Another token might have waited for its turn.
	g.startCalls()
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.fetching--
	close(g.ended)
	g.ended = make(chan struct{})
}

// Makes a call, and returns what to report.
func (g *Gate) send(call *steps.Call) (called steps.Called, err error) {
	ctx, cancel := context.WithTimeout(g.background, time.Duration(call.TimeoutMS)*time.Millisecond)
	defer cancel()
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("gate.Config.Client panicked: %v", panicked)
		}
		switch {
		case err == nil:
		case errors.Is(err, context.DeadlineExceeded):
			called = steps.Called{Failure: steps.FetchTimeout}
		default:
			called = steps.Called{Failure: steps.FetchUnreachable}
		}
	}()
	request, err := http.NewRequestWithContext(ctx, call.Method, call.URL, bytes.NewReader(call.Body))
	if err != nil {
		return called, err
	}
	for _, header := range call.Headers {
		request.Header.Set(header.Name, header.Value)
	}
	answer, err := g.client.Do(request)
	if err != nil {
		return called, err
	}
	defer answer.Body.Close()
	called.Status = uint64(answer.StatusCode)
	for _, value := range answer.Header.Values("Cache-Control") {
		called.Headers = append(called.Headers, steps.Header{Name: "Cache-Control", Value: value})
	}
	// One byte too many is read, so that the library says what is wrong.
	body, err := io.ReadAll(io.LimitReader(answer.Body, int64(call.MaxBytes)+1))
	called.Body = string(body)
	return called, err
}

// Waits until isSo is true, which can become so whenever an attempt has ended, and at that time if it isn't zero. An
// error comes from the context.
func (g *Gate) wait(ctx context.Context, until time.Time, isSo func() bool) error {
	var timer <-chan time.Time
	if !until.IsZero() {
		own := time.NewTimer(time.Until(until) + time.Millisecond)
		defer own.Stop()
		timer = own.C
	}
	for {
		g.mutex.Lock()
		ended, so := g.ended, isSo()
		g.mutex.Unlock()
		if so {
			return nil
		}
		select {
		case <-ended:
		case <-timer:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
