// Package gatetest provides an issuer for tests of a service. Its tokens are real and pass real verification. It uses a new
// key each time, and issues a token to any client that requests one, so never use it in production.
//
//	issuer, err := gatetest.Start(0)
//	…
//	protect, err := gate.New(gate.Config{Policy: policy, Tokens: issuer.Tokens()})
//	request.Header.Set("Authorization", issuer.Bearer(orbgate.KindUser, "read:orders"))
package gatetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/orbgate/orbgate/bindings/go/orbgate"
)

const audience = "https://service.test"

// An Issuer signs tokens, and serves its keys on this machine until it is closed.
type Issuer struct {
	// URL is the issuer's name and address.
	URL    string
	key    *ecdsa.PrivateKey
	server http.Server
}

// Start starts an issuer on a port of 127.0.0.1; with 0, on a free port. It serves `/tokens.yaml`, a configuration that
// trusts it, `/jwks`, and a token for any client at `/token?kind=user&scope=read:orders`.
func Start(port int) (*Issuer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("gatetest: %w", err)
	}
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, fmt.Errorf("gatetest: %w", err)
	}
	i := &Issuer{URL: "http://" + listener.Addr().String(), key: key}
	mux := http.NewServeMux()
	serve := func(path string, answer func(*http.Request) string) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, answer(r)) })
	}
	serve("/tokens.yaml", func(*http.Request) string { return i.Tokens() })
	serve("/jwks", func(*http.Request) string { return i.keys() })
	serve("/token", func(r *http.Request) string {
		kind := r.FormValue("kind")
		if kind == "" {
			kind = orbgate.KindUser.String()
		}
		return i.token(kind, r.FormValue("scope"))
	})
	i.server.Handler = mux
	go func() { _ = i.server.Serve(listener) }()
	return i, nil
}

// Close stops the issuer.
func (i *Issuer) Close() error { return i.server.Close() }

// Tokens returns a configuration that trusts the issuer: the Tokens of a gate's Config.
func (i *Issuer) Tokens() string {
	rules := map[string]any{}
	for _, kind := range []orbgate.TokenKind{orbgate.KindUser, orbgate.KindOrganisation} {
		rules[kind.String()] = []map[string]string{{"claim": "token_kind", "equals": kind.String()}}
	}
	// JSON is also YAML.
	return text(map[string]any{"orbgate_token": 1, "issuers": []any{map[string]any{
		"issuer": i.URL, "audience": audience, "jwks_uri": i.URL + "/jwks", "algorithms": []string{"ES256"}, "kind": rules,
		"account": "subject",
	}}})
}

// Bearer returns an Authorization value with a token of this kind and these scopes, valid for ten
// minutes.
func (i *Issuer) Bearer(kind orbgate.TokenKind, scopes string) string {
	return "Bearer " + i.token(kind.String(), scopes)
}

func (i *Issuer) keys() string {
	public, err := i.key.PublicKey.ECDH()
	if err != nil {
		panic(err) // P-256 has no other points.
	}
	point := public.Bytes()[1:]
	return text(map[string]any{"keys": []any{map[string]string{
		"kty": "EC", "crv": "P-256", "kid": "test", "x": encoded(point[:32]), "y": encoded(point[32:]),
	}}})
}

func (i *Issuer) token(kind, scopes string) string {
	now := time.Now().Unix()
	header := text(map[string]string{"alg": "ES256", "typ": "at+jwt", "kid": "test"})
	claims := text(map[string]any{
		"iss": i.URL, "aud": audience, "sub": "subject", "client_id": "client", "iat": now, "exp": now + 600, "token_kind": kind, "scope": scopes,
	})
	signed := encoded([]byte(header)) + "." + encoded([]byte(claims))
	digest := sha256.Sum256([]byte(signed))
	r, s, err := ecdsa.Sign(rand.Reader, i.key, digest[:])
	if err != nil {
		panic(err) // There is no randomness.
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return signed + "." + encoded(signature)
}

func encoded(bytes []byte) string { return base64.RawURLEncoding.EncodeToString(bytes) }

func text(value any) string {
	bytes, err := json.Marshal(value)
	if err != nil {
		panic(err) // These values all have a text.
	}
	return string(bytes)
}
