// Middleware serves an API and trusts the headers `X-Token-Kind` and `X-Token-Scopes`, so it must be reachable only
// through a proxy that sets them. Package gate verifies tokens itself. A caller without the scope gets a bare 403.
//
//	go run ./example
//	curl -i -X POST -H 'X-Token-Kind: user' -H 'X-Token-Scopes: write:voxies' localhost:8080/api/v1/external/voxies
package main

import (
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"

	"github.com/orbgate/orbgate/bindings/go/orbgate"
)

// Authorize passes the requests that the policy allows.
func Authorize(engine *orbgate.Engine, token func(*http.Request) orbgate.Token, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// RequestURI is the target as received; r.URL.Path is already decoded.
		decision := engine.Decide(r.Method, r.RequestURI, token(r))
		if !decision.IsAllow() {
			deny(w, decision)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Every denial has an empty body. A 401 requests a token (RFC 6750), and a 405 lists the declared methods (RFC 9110).
func deny(w http.ResponseWriter, decision orbgate.Decision) {
	switch decision.Reason() {
	case orbgate.ReasonNoToken:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case orbgate.ReasonInvalidToken:
		w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
	case orbgate.ReasonMethodNotDeclared:
		w.Header().Set("Allow", strings.Join(decision.DeclaredMethods(), ", "))
	}
	w.WriteHeader(decision.HTTPStatus())
}

// The headers in which a proxy that has verified the bearer token passes its kind and scopes. A server
// that is reachable from outside must verify the token itself.
func verified(r *http.Request) orbgate.Token {
	kind := r.Header.Get("X-Token-Kind")
	if kind == "" {
		return orbgate.NoToken()
	}
	return orbgate.Token{Kind: orbgate.TokenKindOf(kind), Scopes: r.Header.Get("X-Token-Scopes")}
}

func api(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintf(w, "%s %s\n", r.Method, r.URL.Path)
}

func main() {
	engine, err := orbgate.External()
	if err != nil {
		log.Fatal(err)
	}
	address := "localhost:8080"
	if len(os.Args) > 1 {
		address = os.Args[1]
	}
	log.Println("listening on", address)
	log.Fatal(http.ListenAndServe(address, Authorize(engine, verified, http.HandlerFunc(api))))
}
