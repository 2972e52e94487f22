package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/h2c"

	"github.com/orbgate/orbgate/bindings/go/orbgate/gate"
)

// Whichever is outside, no stream of HTTP/2 without TLS passes the gate undecided.
func TestNoStreamOfH2CPassesTheGate(t *testing.T) {
	protect, authorization := shopGate(t, gate.Braces, false)
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "open") })
	mux.HandleFunc("/orders", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "orders") })
	for name, row := range map[string]struct {
		handler                http.Handler
		upgrade, preface, open int
	}{
		"the gate inside":  {h2c.NewHandler(protect.Mux(mux), &http2.Server{}), 101, 200, 401},
		"the gate outside": {protect.Middleware(h2c.NewHandler(mux, &http2.Server{})), 400, 400, 401},
	} {
		server := httptest.NewServer(row.handler)
		defer server.Close()
		address := server.Listener.Addr().String()
		// With prior knowledge: a client of HTTP/2 gets its answer, or none.
		transport := &http.Transport{Protocols: new(http.Protocols)}
		transport.Protocols.SetUnencryptedHTTP2(true)
		defer transport.CloseIdleConnections()
		for target, status := range map[string]int{"/orders": row.preface, "/admin": 401} {
			request, err := http.NewRequest(http.MethodGet, server.URL+target, nil)
			if err != nil {
				t.Fatal(err)
			}
			if status == 200 {
				request.Header.Set("Authorization", authorization)
			}
			response, err := transport.RoundTrip(request)
			if row.preface == 200 && (err != nil || response.StatusCode != status) || row.preface != 200 && err == nil {
				t.Errorf("%s, %s: %v %v", name, target, response, err)
			}
			if err == nil {
				response.Body.Close()
			}
		}
		// By an upgrade, and as that preface.
		for text, status := range map[string]int{
			"GET /orders HTTP/1.1\r\nHost: localhost\r\nAuthorization: " + authorization + "\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n": row.upgrade,
			"GET /orders HTTP/1.1\r\nHost: localhost\r\n\r\n": row.open,
		} {
			connection, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer connection.Close()
			if _, err := io.WriteString(connection, text); err != nil {
				t.Fatal(err)
			}
			response, err := http.ReadResponse(bufio.NewReader(connection), nil)
			if err != nil || response.StatusCode != status {
				t.Errorf("%s: %v %v\n%s", name, response, err, text)
			}
		}
	}
}
