package gate

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
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

// Starts pending fetches in separate goroutines, so that a fetch continues if the request that caused it is cancelled.
func (g *Gate) startFetches() {
	for fetch := g.raw.NextFetch(g.monotonicMS()); fetch != nil; fetch = g.raw.NextFetch(g.monotonicMS()) {
		g.mutex.Lock()
		if g.closed {
			g.mutex.Unlock()
			return
		}
		g.fetching++
		g.mutex.Unlock()
		go g.run(fetch)
	}
}

// Runs an attempt to its end.
func (g *Gate) run(fetch *steps.Fetch) {
	for fetch != nil {
		response, failure, err := g.get(fetch)
		if err != nil {
			message := "keys cannot be fetched"
			if fetch.Body != "" {
				message = "an opaque token cannot be asked about"
			}
			g.config.Logger.Warn(message, "url", fetch.URL, "error", err)
			g.raw.FetchFailed(fetch.Attempt, failure, g.monotonicMS())
			break
		}
		fetch = g.raw.Fetched(fetch.Attempt, response.status, response.cacheControl, response.body, g.monotonicMS())
	}
	// Another token might have waited for its turn.
	g.startFetches()
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.fetching--
	close(g.ended)
	g.ended = make(chan struct{})
}

type response struct {
	status       int
	cacheControl string
	body         []byte
}

var errTooLarge = errors.New("the answer is too large")

func (g *Gate) get(fetch *steps.Fetch) (read response, failure uint32, err error) {
	ctx, cancel := context.WithTimeout(g.background, time.Duration(fetch.TimeoutMS)*time.Millisecond)
	defer cancel()
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("gate.Config.Client panicked: %v", panicked)
		}
		if failure = steps.FetchUnreachable; errors.Is(err, errTooLarge) {
			failure = steps.FetchTooLarge
		} else if errors.Is(err, context.DeadlineExceeded) {
			failure = steps.FetchTimeout
		}
	}()
	request, err := newRequest(ctx, fetch)
	if err != nil {
		return response{}, 0, err
	}
	answer, err := g.client.Do(request)
	if err != nil {
		return response{}, 0, err
	}
	defer answer.Body.Close()
	read = response{status: answer.StatusCode, cacheControl: strings.Join(answer.Header.Values("Cache-Control"), ",")}
	read.body, err = io.ReadAll(io.LimitReader(answer.Body, int64(fetch.MaxBytes)+1))
	if err == nil && len(read.body) > fetch.MaxBytes {
		err = errTooLarge
	}
	return read, 0, err
}

func newRequest(ctx context.Context, fetch *steps.Fetch) (*http.Request, error) {
	method, body := http.MethodGet, io.Reader(nil)
	if fetch.Body != "" {
		method, body = http.MethodPost, strings.NewReader(fetch.Body)
	}
	request, err := http.NewRequestWithContext(ctx, method, fetch.URL, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	if fetch.Body != "" {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.Header.Set("Authorization", fetch.Authorization)
	}
	return request, nil
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
