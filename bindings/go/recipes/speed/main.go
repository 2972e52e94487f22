// Speed measures a bearer header's way to its answer, beside golang-jwt verifying the same tokens alone: `cargo xtask bench --bindings` runs it.
//
// Each turn prints `ALGORITHM GATE GOLANG-JWT`, in nanoseconds of processor time a token. golang-jwt has its key ready, and checks signature,
// issuer, audience and expiry; the gate does that, chooses the key, reads kind and scopes, and decides. `mcp` is a tool call with a token of
// ES256, beside the MCP SDK's own check of the token with golang-jwt.
package main

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/modelcontextprotocol/go-sdk/auth"

	"github.com/orbgate/orbgate/bindings/go/orbgate"
	"github.com/orbgate/orbgate/bindings/go/orbgate/gate"
)

const (
	turns    = 31
	calls    = 200
	audience = "https://service.test"
)

func main() {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	must(err)
	measure(jwt.SigningMethodRS256, private, map[string]string{"kty": "RSA", "n": text(private.N), "e": text(big.NewInt(int64(private.E)))})
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	measure(jwt.SigningMethodES256, curve, map[string]string{"kty": "EC", "crv": "P-256", "x": text(curve.X), "y": text(curve.Y)})
}

// A number of 32 bytes or more, or a short one.
func text(number *big.Int) string {
	size := (number.BitLen() + 7) / 8
	if size > 3 {
		size = max(size, 32)
	}
	return base64.RawURLEncoding.EncodeToString(number.FillBytes(make([]byte, size)))
}

func measure(method jwt.SigningMethod, private crypto.Signer, jwk map[string]string) {
	jwk["kid"], jwk["alg"] = "one", method.Alg()
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		must(json.NewEncoder(w).Encode(map[string]any{"keys": []any{jwk}}))
	}))
	defer issuer.Close()
	engine, err := orbgate.External()
	must(err)
	tokens := fmt.Sprintf("orbgate_token: 1\nissuers: [{ issuer: '%s', audience: '%s', algorithms: [%s], kind: user, jwks_uri: '%s' }]\n",
		issuer.URL, audience, method.Alg(), issuer.URL)
	protect, err := gate.New(gate.Config{Policy: orbgate.NewHandle(engine), Tokens: tokens})
	must(err)
	defer protect.Close()

	var signed [calls]string
	for at := range signed {
		token := jwt.NewWithClaims(method, jwt.MapClaims{
			"iss": issuer.URL, "aud": audience, "sub": fmt.Sprint("user-", at), "client_id": "app", "exp": time.Now().Unix() + 600, "scope": "read:orbs",
		})
		token.Header["typ"], token.Header["kid"] = "at+jwt", "one"
		signed[at], err = token.SignedString(private)
		must(err)
	}
	request := httptest.NewRequest(http.MethodGet, "/api/v1/external/orbs", nil)
	byGate := func(token string) bool {
		request.Header.Set("Authorization", "Bearer "+token)
		return protect.AskHTTP(request).IsAllow()
	}
	parser := jwt.NewParser(jwt.WithIssuer(issuer.URL), jwt.WithAudience(audience), jwt.WithExpirationRequired(), jwt.WithValidMethods([]string{method.Alg()}))
	byPeer := func(token string) bool {
		parsed, err := parser.Parse(token, func(*jwt.Token) (any, error) { return private.Public(), nil })
		return err == nil && parsed.Valid
	}
	compare(method.Alg(), signed[:], byGate, byPeer)
	if method.Alg() != "ES256" {
		return
	}
	engine, err = orbgate.FromYAML("orbgate: 1\napis: { shop: { base_path: /mcp, scopes: { read:orbs: { orbs: false, routes: [MCP /tools/call/list_orders] } } } }\n")
	must(err)
	shop, err := gate.New(gate.Config{Policy: orbgate.NewHandle(engine), Tokens: tokens, MCP: gate.MCP{Path: "/mcp"}})
	must(err)
	defer shop.Close()
	server := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		must(err)
	})
	mux := http.NewServeMux()
	mux.Handle("/mcp", server)
	verify := func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		parsed, err := parser.Parse(token, func(*jwt.Token) (any, error) { return private.Public(), nil })
		if err != nil || !parsed.Valid {
			return nil, auth.ErrInvalidToken
		}
		return &auth.TokenInfo{Expiration: time.Now().Add(time.Minute)}, nil
	}
	compare("mcp", signed[:], served(shop.Mux(mux)), served(auth.RequireBearerToken(verify, nil)(server)))
}

// Whether a service serves a tool call with a token.
func served(service http.Handler) func(string) bool {
	const message = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_orders","arguments":{"limit":10}}}`
	return func(token string) bool {
		request := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(message))
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Authorization", "Bearer "+token)
		recorder := httptest.NewRecorder()
		service.ServeHTTP(recorder, request)
		return recorder.Code == http.StatusOK
	}
}

func compare(name string, tokens []string, byGate, byPeer func(string) bool) {
	for turn := range turns {
		own, peer := nanoseconds(tokens, byGate), nanoseconds(tokens, byPeer)
		if turn > 0 { // the first one fetches the keys
			fmt.Println(name, own, peer)
		}
	}
}

func nanoseconds(tokens []string, verify func(string) bool) int64 {
	start := processor()
	for _, token := range tokens {
		if !verify(token) {
			log.Fatal("a right token is refused")
		}
	}
	return (processor() - start) / int64(len(tokens))
}

// The processor time of the process so far.
func processor() int64 {
	var usage syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return usage.Utime.Nano() + usage.Stime.Nano()
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
