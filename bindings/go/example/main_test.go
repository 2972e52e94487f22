package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/orbgate/orbgate/bindings/go/orbgate"
)

func TestDenialsAreBare(t *testing.T) {
	engine, err := orbgate.External()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(Authorize(engine, verified, http.HandlerFunc(api)))
	defer server.Close()

	const voxies = "/api/v1/external/voxies"
	for _, test := range []struct {
		name, method, path, kind, scopes string
		status                           int
		body                             string
		challenge, allow                 string
	}{
		{"the scope is held", "POST", voxies, "user", "read:orbs write:voxies", 200, "POST " + voxies + "\n", "", ""},
		{"the scope is missing", "POST", voxies, "user", "read:voxies", 403, "", "", ""},
		{"a query changes nothing", "POST", voxies + "?scope=write:voxies", "user", "read:voxies", 403, "", "", ""},
		{"no token", "POST", voxies, "", "write:voxies", 401, "", "Bearer", ""},
		{"a kind that is none", "POST", voxies, "robot", "write:voxies", 401, "", `Bearer error="invalid_token"`, ""},
		{"no such route", "POST", "/api/v1/external/nothing", "user", "write:voxies", 404, "", "", ""},
		{"no such method", "PUT", voxies, "user", "write:voxies", 405, "", "", "GET, POST"},
		{"an escape that hides a literal", "POST", "/api/v1/external/%76oxies", "user", "write:voxies", 400, "", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			request, err := http.NewRequest(test.method, server.URL+test.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if test.kind != "" {
				request.Header.Set("X-Token-Kind", test.kind)
				request.Header.Set("X-Token-Scopes", test.scopes)
			}
			response, err := server.Client().Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			if response.StatusCode != test.status || string(body) != test.body {
				t.Errorf("%d with body %q, not %d with %q", response.StatusCode, body, test.status, test.body)
			}
			challenge, allow := response.Header.Get("WWW-Authenticate"), response.Header.Get("Allow")
			if challenge != test.challenge || allow != test.allow {
				t.Errorf("challenge %q, allow %q", challenge, allow)
			}
		})
	}
}
