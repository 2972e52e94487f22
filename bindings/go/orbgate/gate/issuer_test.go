package gate_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/orbgate/orbgate/bindings/go/orbgate"
	"github.com/orbgate/orbgate/bindings/go/orbgate/gate"
)

const orbs = "/api/v1/external/orbs"

// An issuer with a real server and keys of every kind.
type issuer struct {
	*httptest.Server
	mutex   sync.Mutex
	signers map[string]signer
	fetches atomic.Int32
	// How long its keys may be used, as a `Cache-Control` header.
	cache string
	// Instead of the keys, where it is set.
	answer func(http.ResponseWriter)
}

type signer struct {
	algorithm string
	key       crypto.Signer
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	made := func(key crypto.Signer, err error) crypto.Signer {
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	rsaKey := made(rsa.GenerateKey(rand.Reader, 2048))
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	i := &issuer{cache: "max-age=600", signers: map[string]signer{
		"rsa": {"RS256", rsaKey},
		"ec":  {"ES256", made(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))},
		"384": {"ES384", made(ecdsa.GenerateKey(elliptic.P384(), rand.Reader))},
		"521": {"ES512", made(ecdsa.GenerateKey(elliptic.P521(), rand.Reader))},
		"ed":  {"EdDSA", made(edwards, err)},
		"pss": {"PS512", made(rsa.GenerateKey(rand.Reader, 2048))},
		"512": {"RS512", made(rsa.GenerateKey(rand.Reader, 3072))},
	}}
	// The remaining algorithms, so that the signers have all.
	i.signers["RS384"], i.signers["PS256"], i.signers["PS384"] = signer{"RS384", rsaKey}, signer{"PS256", rsaKey}, signer{"PS384", rsaKey}
	i.signers["Ed25519"] = signer{"Ed25519", edwards}
	i.Server = httptest.NewServer(http.HandlerFunc(i.serve))
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) serve(w http.ResponseWriter, r *http.Request) {
	i.fetches.Add(1)
	i.mutex.Lock()
	answer, signers := i.answer, maps.Clone(i.signers)
	i.mutex.Unlock()
	if answer != nil {
		answer(w)
		return
	}
	if r.URL.Path == "/.well-known/openid-configuration" {
		json.NewEncoder(w).Encode(map[string]string{"issuer": i.URL, "jwks_uri": i.URL + "/keys"})
		return
	}
	var keys []map[string]string
	for kid, signer := range signers {
		keys = append(keys, jwk(kid, signer))
	}
	w.Header().Set("Cache-Control", i.cache)
	json.NewEncoder(w).Encode(map[string]any{"keys": keys})
}

func jwk(kid string, of signer) map[string]string {
	members := map[string]string{"kid": kid, "alg": of.algorithm, "use": "sig"}
	switch key := of.key.Public().(type) {
	case *rsa.PublicKey:
		members["kty"], members["n"], members["e"] = "RSA", text(key.N.Bytes()), text(big.NewInt(int64(key.E)).Bytes())
	case *ecdsa.PublicKey:
		size := (key.Params().BitSize + 7) / 8
		members["kty"], members["crv"] = "EC", key.Params().Name
		members["x"], members["y"] = text(key.X.FillBytes(make([]byte, size))), text(key.Y.FillBytes(make([]byte, size)))
	case ed25519.PublicKey:
		members["kty"], members["crv"], members["x"] = "OKP", "Ed25519", text(key)
	}
	return members
}

func text(bytes []byte) string { return base64.RawURLEncoding.EncodeToString(bytes) }

// A token that is right, but for what is changed.
func (i *issuer) token(t *testing.T, kid string, change map[string]any) string {
	t.Helper()
	now := time.Now().Unix()
	claims := map[string]any{
		"iss": i.URL, "aud": "api", "sub": "me", "client_id": "app", "iat": now, "exp": now + 600, "scope": "read:orbs", "token_kind": "user",
	}
	maps.Copy(claims, change)
	return sign(t, i.signers[kid], map[string]string{"alg": i.signers[kid].algorithm, "kid": kid, "typ": "at+jwt"}, claims)
}

func sign(t *testing.T, with signer, header map[string]string, claims map[string]any) string {
	t.Helper()
	part := func(of any) string {
		bytes, err := json.Marshal(of)
		if err != nil {
			t.Fatal(err)
		}
		return text(bytes)
	}
	signed := part(header) + "." + part(claims)
	var options crypto.SignerOpts = map[string]crypto.Hash{"256": crypto.SHA256, "384": crypto.SHA384, "512": crypto.SHA512}[with.algorithm[2:]] // Ed25519 has none
	digest := []byte(signed)
	if options.HashFunc() != 0 {
		hasher := options.HashFunc().New()
		hasher.Write(digest)
		digest = hasher.Sum(nil)
	}
	if with.algorithm[0] == 'P' {
		options = &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: options.HashFunc()}
	}
	var signature []byte
	var err error
	if key, is := with.key.(*ecdsa.PrivateKey); is {
		var r, s *big.Int
		r, s, err = ecdsa.Sign(rand.Reader, key, digest)
		size := (key.Params().BitSize + 7) / 8
		signature = append(r.FillBytes(make([]byte, size)), s.FillBytes(make([]byte, size))...)
	} else {
		signature, err = with.key.Sign(rand.Reader, digest, options)
	}
	if err != nil {
		t.Fatal(err)
	}
	return signed + "." + text(signature)
}

func (i *issuer) tokens() string {
	return fmt.Sprintf("orbgate_token: 1\nissuers:\n  - issuer: %s\n    audience: api\n"+
		"    algorithms: [RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA, Ed25519]\n"+
		"    kind: { user: [{ claim: token_kind, equals: user }], organisation: [{ claim: token_kind, equals: organisation }] }\n", i.URL)
}

func newGate(t *testing.T, i *issuer, config gate.Config) *gate.Gate {
	t.Helper()
	if config.Policy == nil {
		engine, err := orbgate.External()
		if err != nil {
			t.Fatal(err)
		}
		config.Policy = orbgate.NewHandle(engine)
		engine.Close()
	}
	if config.Tokens == "" {
		config.Tokens = i.tokens()
	}
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	made, err := gate.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { made.Close() })
	return made
}

// A service that says what it knows of its call.
func service(w http.ResponseWriter, r *http.Request) {
	call, ok := gate.From(r.Context())
	fmt.Fprint(w, call.Decision.Scope(), " ", call.Token.Kind, " ", call.Token.Subject, " ", ok)
}

type answer struct {
	status                 int
	challenge, allow, body string
}

// Over a real socket, with the request line as it is written.
func call(t *testing.T, server *httptest.Server, method, target string, headers ...string) answer {
	t.Helper()
	request, err := http.NewRequest(method, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.URL.Opaque = target
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		request.Header.Add(name, value)
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
	if response.StatusCode != 200 && response.Header.Get("Content-Type") != "" {
		t.Errorf("%s %s: a denial has a content type", method, target)
	}
	return answer{response.StatusCode, response.Header.Get("WWW-Authenticate"), response.Header.Get("Allow"), string(body)}
}

func bearer(token string) string { return "Authorization: Bearer " + token }
