package gate_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
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
	i := &issuer{signers: map[string]signer{
		"rsa": {"RS256", rsaKey},
		"ec":  {"ES256", made(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))},
		"384": {"ES384", made(ecdsa.GenerateKey(elliptic.P384(), rand.Reader))},
		"521": {"ES512", made(ecdsa.GenerateKey(elliptic.P521(), rand.Reader))},
		"ed":  {"EdDSA", made(edwards, err)},
		"pss": {"PS512", made(rsa.GenerateKey(rand.Reader, 2048))},
		"512": {"RS512", made(rsa.GenerateKey(rand.Reader, 3072))},
	}}
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
	w.Header().Set("Cache-Control", "max-age=600")
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
	var options crypto.SignerOpts = map[string]crypto.Hash{"256": crypto.SHA256, "384": crypto.SHA384, "512": crypto.SHA512}[with.algorithm[2:]]
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
		"    algorithms: [RS256, RS512, PS512, ES256, ES384, ES512, EdDSA]\n"+
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
	config.Tokens = i.tokens()
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
	call, found := gate.From(r.Context())
	fmt.Fprint(w, call.Decision.Scope(), " ", call.Token.Kind, " ", call.Token.Subject, " ", found)
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

func TestARequestIsAnswered(t *testing.T) {
	i := newIssuer(t)
	var counted sync.Map
	var audit bytes.Buffer
	protect := newGate(t, i, gate.Config{Audit: &audit, Count: func(name string, labels ...gate.Label) {
		for _, label := range labels {
			name += " " + label.Value
		}
		count, _ := counted.LoadOrStore(name, new(atomic.Int32))
		count.(*atomic.Int32).Add(1)
	}})
	server := httptest.NewServer(protect.Middleware(http.HandlerFunc(service)))
	defer server.Close()
	good := i.token(t, "rsa", nil)
	other := newIssuer(t)
	denied := func(status int, challenge, allow string) answer { return answer{status, challenge, allow, ""} }
	for name, row := range map[string]struct {
		found, expected answer
	}{
		"allowed":        {call(t, server, "GET", orbs+"?x=1", bearer(good)), answer{200, "", "", "read:orbs user me true"}},
		"organisation":   {call(t, server, "GET", orbs, bearer(i.token(t, "ec", map[string]any{"token_kind": "organisation"}))), answer{200, "", "", "read:orbs organisation me true"}},
		"no token":       {call(t, server, "GET", orbs), denied(401, "Bearer", "")},
		"another scheme": {call(t, server, "GET", orbs, "Authorization: Basic YTpi"), denied(401, "Bearer", "")},
		"two tokens":     {call(t, server, "GET", orbs, bearer(good), bearer(good)), denied(401, "Bearer", "")},
		"no scope":       {call(t, server, "GET", orbs, bearer(i.token(t, "rsa", map[string]any{"scope": "read:account"}))), denied(403, "Bearer", "")},
		"expired":        {call(t, server, "GET", orbs, bearer(i.token(t, "rsa", map[string]any{"exp": 1}))), denied(401, "Bearer", "")},
		"no expiry":      {call(t, server, "GET", orbs, bearer(i.token(t, "rsa", map[string]any{"exp": nil}))), denied(401, "Bearer", "")},
		"audience":       {call(t, server, "GET", orbs, bearer(i.token(t, "rsa", map[string]any{"aud": "other"}))), denied(401, "Bearer", "")},
		"forged":         {call(t, server, "GET", orbs, bearer(other.token(t, "rsa", map[string]any{"iss": i.URL}))), denied(401, "Bearer", "")},
		"wrong method":   {call(t, server, "PUT", orbs, bearer(good)), denied(405, "", "GET")},
		"no route":       {call(t, server, "GET", "/nowhere", bearer(good)), denied(404, "", "")},
		"escaped":        {call(t, server, "GET", "/api/v1/external/%6frbs", bearer(good)), denied(400, "", "")},
		"override": {call(t, server, "POST", "/api/v1/external/voxies", bearer(i.token(t, "rsa", map[string]any{"scope": "write:voxies"})),
			"X-HTTP-Method-Override: DELETE"), denied(400, "", "")},
		"override of a GET": {call(t, server, "GET", orbs, bearer(good), "X-Http-Method: PUT"), denied(400, "", "")},
		"upgrade":           {call(t, server, "GET", orbs, bearer(good), "Upgrade: websocket", "Upgrade: foo, H2C"), denied(400, "", "")},
		"settings of HTTP/2": {call(t, server, "GET", orbs, bearer(good), "Connection: HTTP2-Settings", "HTTP2-Settings: AAMAAABkAAQAAP__"),
			answer{200, "", "", "read:orbs user me true"}},
	} {
		if row.found != row.expected {
			t.Errorf("%s: %v, and not %v", name, row.found, row.expected)
		}
	}
	for name, expected := range map[string]int32{
		"orbgate_decisions_total allow scope_held GET " + orbs: 3,
		"orbgate_tokens_refused_total expired":                 1,
		"orbgate_tokens_refused_total signature":               1,
		"orbgate_tokens_refused_total authorization_header":    1,
	} {
		count, found := counted.Load(name)
		if !found || count.(*atomic.Int32).Load() != expected {
			t.Errorf("%s: %v", name, count)
		}
	}
	lines := strings.Split(strings.TrimSpace(audit.String()), "\n")
	var line struct {
		Decision, Token_kind, Token string
		Time_ms                     int64
	}
	if err := json.Unmarshal([]byte(lines[0]), &line); err != nil || len(lines) != 17 || line.Time_ms == 0 {
		t.Errorf("%d lines, %v: %s", len(lines), err, lines[0])
	}
	if strings.Contains(audit.String(), good) {
		t.Error("the audit has a token")
	}
}

// A writer, a handler of logs and a transport that fail.
type broken struct{ logged *atomic.Int32 }

func (broken) Write([]byte) (int, error)                       { panic("the disk is full") }
func (broken) RoundTrip(*http.Request) (*http.Response, error) { panic("no way") }
func (broken) Enabled(context.Context, slog.Level) bool        { return true }
func (b broken) WithAttrs([]slog.Attr) slog.Handler            { return b }
func (b broken) WithGroup(string) slog.Handler                 { return b }
func (b broken) Handle(context.Context, slog.Record) error {
	b.logged.Add(1)
	panic("the disk is full")
}

func TestNoAnswerDependsOnHooks(t *testing.T) {
	i := newIssuer(t)
	fails := broken{new(atomic.Int32)}
	fail := func(*http.Request) bool { panic("an error") }
	protect := newGate(t, i, gate.Config{
		Logger: slog.New(fails), Audit: fails, BonusOrbs: fail, Count: func(string, ...gate.Label) { panic("an error") },
	})
	server := httptest.NewServer(protect.Middleware(http.HandlerFunc(service)))
	defer server.Close()
	good := bearer(i.token(t, "rsa", nil))
	for range 2 {
		for headers, status := range map[string]int{good: 200, "A: b": 401} {
			if got := call(t, server, "GET", orbs, headers); got.status != status {
				t.Errorf("%s: %+v", headers, got)
			}
		}
	}
	if protect.Reload("/nowhere") == nil {
		t.Error("it is loaded")
	}
	// Audit, Count, BonusOrbs and the reload, each once.
	if logged := fails.logged.Load(); logged != 4 {
		t.Errorf("%d are logged", logged)
	}
	router := newGate(t, i, gate.Config{Template: func(*http.Request) string { panic("an error") }})
	unknown := httptest.NewServer(router.Middleware(http.HandlerFunc(service)))
	defer unknown.Close()
	if got := call(t, unknown, "GET", orbs, good); got.status != 404 {
		t.Errorf("without a template: %+v", got)
	}
	without := newGate(t, i, gate.Config{Logger: slog.New(fails), Client: &http.Client{Transport: fails}})
	request := gate.Request{Method: "GET", Target: orbs, Authorization: []string{strings.TrimPrefix(good, "Authorization: ")}}
	if got := without.Ask(t.Context(), request); got.Refused != "no_keys" {
		t.Errorf("without keys: %+v", got)
	}
}

func TestABodyAllowsBonusOrbs(t *testing.T) {
	i := newIssuer(t)
	var decisions atomic.Int32
	protect := newGate(t, i, gate.Config{BonusFromBody: 64, Count: func(name string, labels ...gate.Label) { decisions.Add(1) }})
	server := httptest.NewServer(protect.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		call, _ := gate.From(r.Context())
		charge, _ := call.Decision.Charge()
		fmt.Fprintf(w, "%v %v %s", charge.BonusAllowed, err, body)
	})))
	defer server.Close()
	const run = "/api/v1/external/voxies/prompt/run"
	token := i.token(t, "rsa", map[string]any{"scope": "write:voxies"})
	pad := strings.Repeat(" ", 64)
	for body, allows := range map[string]bool{
		`{"allowBonusOrbsUse":true}`: true, `{"allowBonusOrbsUse":false}`: false, `{"allowBonusOrbsUse":true`: false, "": false,
		`{"allowBonusOrbsUse":true}` + pad[26:]: true, `{"allowBonusOrbsUse":true}` + pad: false,
	} {
		for _, length := range []int64{int64(len(body)), -1} {
			request, err := http.NewRequest("POST", server.URL+run, io.NopCloser(strings.NewReader(body)))
			if err != nil {
				t.Fatal(err)
			}
			request.ContentLength = length
			request.Header.Set("Authorization", "Bearer "+token)
			response, err := server.Client().Do(request)
			if err != nil {
				t.Fatal(err)
			}
			said, _ := io.ReadAll(response.Body)
			response.Body.Close()
			if string(said) != fmt.Sprintf("%v <nil> %s", allows, body) {
				t.Errorf("%q, %d: %s", body, length, said)
			}
		}
	}
	if decisions.Load() != 12 {
		t.Errorf("%d decisions", decisions.Load())
	}
	// A denied body is not read.
	denied := httptest.NewRequest("POST", run, iotest.ErrReader(errors.New("read")))
	if answer := protect.AskHTTP(denied); answer.Status != 401 {
		t.Error(answer)
	}
	if body, err := io.ReadAll(denied.Body); len(body) != 0 || err == nil || err.Error() != "read" {
		t.Error(err)
	}
}

func TestOnlyAWholePolicyIsReloaded(t *testing.T) {
	i := newIssuer(t)
	var results []string
	protect := newGate(t, i, gate.Config{Count: func(name string, labels ...gate.Label) {
		if name == "orbgate_policy_loads_total" && labels[0].Name == "result" {
			results = append(results, labels[0].Value)
		}
	}})
	request := gate.Request{Method: "GET", Target: orbs, Authorization: []string{"Bearer " + i.token(t, "rsa", nil)}}
	file := filepath.Join(t.TempDir(), "policy.yaml")
	const policy = "orbgate: 1\napis: { a: { base_path: '', scopes: { 'read:a': { orbs: false, routes: [GET /a] } } } }\n"
	if err := protect.Reload(file); !errors.Is(err, orbgate.ErrIO) || !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	for _, text := range []string{"orbgate: 2\n...\n", policy} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := protect.Reload(file); !errors.Is(err, orbgate.ErrInvalidPolicy) || !protect.Ask(t.Context(), request).IsAllow() {
			t.Error(err)
		}
	}
	if err := os.WriteFile(file, []byte(policy+"...\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := protect.Reload(file); err != nil || protect.Ask(t.Context(), request).Status != 404 {
		t.Error(err)
	}
	if !slices.Equal(results, []string{"unreadable", "refused", "unfinished", "loaded"}) {
		t.Error(results)
	}
}

func TestEveryAlgorithmIsChecked(t *testing.T) {
	i := newIssuer(t)
	protect := newGate(t, i, gate.Config{})
	other := newIssuer(t)
	for kid := range i.signers {
		ask := func(token string) gate.Answer {
			return protect.Ask(t.Context(), gate.Request{Method: "GET", Target: orbs, Authorization: []string{"Bearer " + token}})
		}
		token := i.token(t, kid, nil)
		hash := sha256.Sum256([]byte(token))
		if answer := ask(token); !answer.IsAllow() || answer.Token.Client != "app" || answer.Token.Issuer != i.URL {
			t.Errorf("%s: %+v", kid, answer)
		} else if answer.Token.Fingerprint != hex.EncodeToString(hash[:8]) {
			t.Errorf("%s: the token is called %s", kid, answer.Token.Fingerprint)
		}
		if answer := ask(other.token(t, kid, map[string]any{"iss": i.URL})); answer.Refused != "signature" || answer.Token != nil {
			t.Errorf("%s, forged: %+v", kid, answer)
		}
	}
}

// RFC 7518 §3.5: the salt is as long as the hash.
func TestASignatureWithAnotherSaltLengthIsRefused(t *testing.T) {
	i := newIssuer(t)
	protect := newGate(t, i, gate.Config{})
	token := i.token(t, "pss", nil)
	signed := token[:strings.LastIndex(token, ".")]
	digest := sha512.Sum512([]byte(signed))
	// The last is the longest that the key has room for.
	for length, refused := range map[int]string{64: "", 1: "signature", 32: "signature", 63: "signature", 65: "signature", 190: "signature"} {
		signature, err := rsa.SignPSS(rand.Reader, i.signers["pss"].key.(*rsa.PrivateKey), crypto.SHA512, digest[:], &rsa.PSSOptions{SaltLength: length})
		if err != nil {
			t.Fatal(err)
		}
		request := gate.Request{Method: "GET", Target: orbs, Authorization: []string{"Bearer " + signed + "." + text(signature)}}
		if answer := protect.Ask(t.Context(), request); answer.Refused != refused || answer.IsAllow() != (refused == "") {
			t.Errorf("%d: %+v", length, answer)
		}
	}
}

// More of them than an instance of the engine has room for.
func TestARequestMayHaveManyHeaders(t *testing.T) {
	i := newIssuer(t)
	protect := newGate(t, i, gate.Config{})
	names := make([]string, 10_000)
	for at := range names {
		names[at] = fmt.Sprint("x-", at)
	}
	request := gate.Request{Method: "POST", Target: orbs, Authorization: []string{"Bearer " + i.token(t, "ec", nil)}, HeaderNames: names}
	if reason := protect.Ask(t.Context(), request).Decision.Reason(); reason != orbgate.ReasonMethodNotDeclared {
		t.Error(reason)
	}
	request.Upgrade, request.Origin, request.AccessControlRequestMethod = slices.Repeat([]string{"foo"}, 999), names[:999], []string{"PUT", ""}
	if reason := protect.Ask(t.Context(), request).Decision.Reason(); reason != orbgate.ReasonMethodNotDeclared {
		t.Error(reason)
	}
	request.Upgrade[998] = "bar, h2c"
	if decision := protect.Ask(t.Context(), request).Decision; decision.Detail() != orbgate.DetailUpgrade {
		t.Error(decision)
	}
	request.Upgrade = nil
	names[9_999] = "x-http-method-override"
	if reason := protect.Ask(t.Context(), request).Decision.Reason(); reason != orbgate.ReasonMalformedRequest {
		t.Error(reason)
	}
}

func TestKeysAreFetchedOnceForAll(t *testing.T) {
	i := newIssuer(t)
	protect := newGate(t, i, gate.Config{})
	token := "Bearer " + i.token(t, "ec", nil)
	var asking sync.WaitGroup
	for range 16 {
		asking.Add(1)
		go func() {
			defer asking.Done()
			for range 20 {
				if answer := protect.Ask(t.Context(), gate.Request{Method: "GET", Target: orbs, Authorization: []string{token}}); !answer.IsAllow() {
					t.Errorf("%+v", answer)
				}
			}
		}()
	}
	asking.Wait()
	if fetches := i.fetches.Load(); fetches != 2 {
		t.Errorf("%d fetches, and not discovery and keys", fetches)
	}
	// A new key is found, and one that is revoked is not used.
	_, key, _ := ed25519.GenerateKey(rand.Reader)
	i.mutex.Lock()
	i.signers["new"] = signer{"EdDSA", key}
	i.mutex.Unlock()
	ask := func(kid string) string {
		answer := protect.Ask(t.Context(), gate.Request{Method: "GET", Target: orbs, Authorization: []string{"Bearer " + i.token(t, kid, nil)}})
		return answer.Refused
	}
	if refused := ask("new"); refused != "" {
		t.Error(refused)
	}
	if err := protect.Revoke(i.URL, "new"); err != nil || ask("new") != "key_revoked" {
		t.Error(err)
	}
	if err := protect.Forget(i.URL); err != nil || ask("ec") != "" {
		t.Error(err)
	}
	if !errors.Is(protect.Revoke("nobody", "x"), orbgate.ErrNotFound) || !errors.Is(protect.Forget("nobody"), orbgate.ErrNotFound) {
		t.Error("an unknown issuer is known")
	}
	if status := protect.Status(); len(status) != 1 || status[0].Keys != len(i.signers)-1 || status[0].Failure != "" {
		t.Errorf("%+v", status)
	}
}

func TestAnIssuerThatFailsIsADenial(t *testing.T) {
	for name, answer := range map[string]func(http.ResponseWriter){
		"500":      func(w http.ResponseWriter) { w.WriteHeader(500) },
		"redirect": func(w http.ResponseWriter) { w.Header().Set("Location", "/keys"); w.WriteHeader(302) },
		"huge":     func(w http.ResponseWriter) { w.Write(bytes.Repeat([]byte(" "), 300_000)) },
		"lies": func(w http.ResponseWriter) {
			io.WriteString(w, `{"issuer":"https://other","jwks_uri":"https://other/keys"}`)
		},
		"broken": func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
	} {
		i := newIssuer(t)
		i.answer = answer
		protect := newGate(t, i, gate.Config{})
		found := protect.Ask(t.Context(), gate.Request{Method: "GET", Target: orbs, Authorization: []string{"Bearer " + i.token(t, "ec", nil)}})
		if found.HTTPStatus() != 401 || found.Refused != "no_keys" || i.fetches.Load() != 1 {
			t.Errorf("%s: %+v after %d fetches", name, found, i.fetches.Load())
		}
		if err := protect.Warm(t.Context()); err == nil || !strings.Contains(err.Error(), i.URL) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestACallerMayGoAwayAndAGateMayBeClosed(t *testing.T) {
	i := newIssuer(t)
	release := make(chan struct{})
	i.answer = func(http.ResponseWriter) { <-release }
	protect := newGate(t, i, gate.Config{})
	request := gate.Request{Method: "GET", Target: orbs, Authorization: []string{"Bearer " + i.token(t, "ec", nil)}}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if answer := protect.Ask(ctx, request); !errors.Is(answer.Err, context.DeadlineExceeded) || answer.HTTPStatus() != 403 {
		t.Errorf("%+v", answer)
	}
	var asking sync.WaitGroup
	for range 4 {
		asking.Add(1)
		go func() {
			defer asking.Done()
			if answer := protect.Ask(context.Background(), request); answer.IsAllow() {
				t.Errorf("%+v", answer)
			}
		}()
	}
	time.Sleep(10 * time.Millisecond)
	protect.Close()
	asking.Wait()
	close(release)
	if answer := protect.Ask(t.Context(), request); !errors.Is(answer.Err, orbgate.ErrClosed) || answer.IsAllow() {
		t.Errorf("%+v", answer)
	}
	if (gate.Answer{}).IsAllow() || (gate.Answer{}).HTTPStatus() != 403 {
		t.Error("an answer that was never given allows")
	}
}

func TestAPublicRouteNeedsNoToken(t *testing.T) {
	i := newIssuer(t)
	config := gate.Config{Public: []string{"GET /healthz", "GET /docs/{page}"}, CorsPreflight: true}
	protect := newGate(t, i, config)
	mux := http.NewServeMux()
	mux.Handle("GET /healthz", gate.HandlerFunc(func(w http.ResponseWriter, _ *http.Request, call gate.Call) {
		fmt.Fprint(w, call.Decision.Reason(), call.Token.Kind, call.Token.Subject)
	}))
	mux.HandleFunc("GET /docs/{$}", service)
	server := httptest.NewServer(protect.Mux(mux))
	defer server.Close()
	expected := fmt.Sprint(orbgate.ReasonPublicRoute, orbgate.KindNone)
	if got := call(t, server, "GET", "/healthz", bearer("nonsense")); got.status != 200 || got.body != expected {
		t.Errorf("%+v", got)
	}
	for target, status := range map[string]int{"/docs/a": 404, "/healthz/": 400, orbs: 401} {
		if got := call(t, server, "GET", target); got.status != status {
			t.Errorf("%s: %+v", target, got)
		}
	}
	ask := func(request gate.Request) gate.Answer { return protect.Ask(t.Context(), request) }
	preflight := gate.Request{Method: "OPTIONS", Target: orbs, Origin: []string{"https://a.example"}, AccessControlRequestMethod: []string{"GET"}}
	if answer := ask(preflight); !answer.IsAllow() || !answer.Preflight {
		t.Errorf("%+v", answer)
	}
	preflight.AccessControlRequestMethod[0] = "DELETE"
	if answer := ask(preflight); answer.HTTPStatus() != 401 || answer.Preflight {
		t.Errorf("%+v", answer)
	}
	if answer := ask(gate.Request{Method: "GET", Target: "/healthz"}); !answer.IsAllow() || answer.Preflight {
		t.Errorf("%+v", answer)
	}
	if answer := ask(gate.Request{Method: "GET", Target: "/docs/a", Routed: true, Template: "/docs/{any}"}); answer.PublicTemplate != "/docs/{page}" {
		t.Errorf("%+v", answer)
	}
	// A browser's question reaches the handler that answers it.
	mux.HandleFunc("OPTIONS "+orbs, func(w http.ResponseWriter, r *http.Request) {
		if call, _ := gate.From(r.Context()); call.Preflight {
			w.WriteHeader(http.StatusNoContent)
		}
	})
	if got := call(t, server, "OPTIONS", orbs, "Origin: https://a.example", "Access-Control-Request-Method: GET"); got.status != 204 {
		t.Errorf("%+v", got)
	}
	differences := new(gate.RoutesError)
	if err := protect.CheckMux(mux); !errors.As(err, &differences) || differences.Undeclared != nil || !slices.Contains(differences.Unserved, "GET /docs/{page}") {
		t.Errorf("%v", err)
	}
	file := filepath.Join(t.TempDir(), "policy.yaml")
	policy := "orbgate: 1\napis: { a: { base_path: '', scopes: { s: { orbs: false, routes: ['POST /{any}'] } } } }\n...\n"
	if err := os.WriteFile(file, []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := protect.Reload(file); err == nil || !strings.Contains(err.Error(), "fits the same paths") {
		t.Errorf("%v", err)
	}
	engine, err := orbgate.FromYAML(policy)
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	config.Policy, config.Tokens = orbgate.NewHandle(engine), i.tokens()
	if _, err := gate.New(config); err == nil || !strings.Contains(err.Error(), "fits the same paths") {
		t.Errorf("%v", err)
	}
}

func TestAPolicyIsReplaced(t *testing.T) {
	i := newIssuer(t)
	const policy = "orbgate: 1\napis: { a: { base_path: '', scopes: { %s: { orbs: false, routes: [GET /a] } } } }\n"
	handle := new(orbgate.Handle)
	protect := newGate(t, i, gate.Config{Policy: handle})
	request := gate.Request{Method: "GET", Target: "/a", Authorization: []string{"Bearer " + i.token(t, "ec", nil)}}
	if answer := protect.Ask(t.Context(), request); answer.IsAllow() || answer.Err == nil {
		t.Errorf("without a policy: %+v", answer)
	}
	for _, row := range []struct {
		scope  string
		status int
	}{{"read:orbs", 0}, {"write:a", 403}, {"read:orbs", 0}} {
		engine, err := orbgate.FromYAML(fmt.Sprintf(policy, row.scope))
		if err != nil {
			t.Fatal(err)
		}
		handle.Store(engine)
		engine.Close()
		if answer := protect.Ask(t.Context(), request); answer.HTTPStatus() != row.status || answer.Decision.Scope() != row.scope {
			t.Errorf("%s: %+v", row.scope, answer)
		}
	}
}

// How many tokens may wait for keys is bounded, so a caller that goes away must give up its slot.
func TestCallersThatGoAwayLeaveRoomForOthers(t *testing.T) {
	i := newIssuer(t)
	protect := newGate(t, i, gate.Config{})
	good := gate.Request{Method: "GET", Target: orbs, Authorization: []string{"Bearer " + i.token(t, "ec", nil)}}
	if answer := protect.Ask(t.Context(), good); !answer.IsAllow() {
		t.Fatalf("%+v", answer)
	}
	asked, answers := make(chan struct{}, 1), make(chan struct{})
	answer := sync.OnceFunc(func() { close(answers) })
	defer answer()
	i.mutex.Lock()
	i.answer = func(w http.ResponseWriter) {
		asked <- struct{}{}
		<-answers
		json.NewEncoder(w).Encode(map[string]any{"issuer": i.URL, "jwks_uri": i.URL + "/keys"})
	}
	i.signers["late"] = i.signers["ed"]
	i.mutex.Unlock()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for at := range 1_100 {
		token := sign(t, i.signers["ed"], map[string]string{"alg": "EdDSA", "kid": fmt.Sprint("forged-", at), "typ": "at+jwt"}, map[string]any{"iss": i.URL})
		answer := protect.Ask(gone, gate.Request{Method: "GET", Target: orbs, Authorization: []string{"Bearer " + token}})
		if !errors.Is(answer.Err, context.Canceled) || answer.IsAllow() {
			t.Fatalf("%d: %+v", at, answer)
		}
	}
	<-asked
	if answer := protect.Ask(t.Context(), good); !answer.IsAllow() {
		t.Errorf("with a key that is there: %+v", answer)
	}
	late := make(chan gate.Answer)
	go func() {
		late <- protect.Ask(t.Context(), gate.Request{Method: "GET", Target: orbs, Authorization: []string{"Bearer " + i.token(t, "late", nil)}})
	}()
	i.mutex.Lock()
	i.answer = nil
	i.mutex.Unlock()
	answer()
	if answer := <-late; !answer.IsAllow() {
		t.Errorf("with the issuer's new key: %+v", answer)
	}
}

// A request that waits for keys is decided by the policy that is in force when they come.
func TestARequestThatWaitsIsDecidedByTheLaterPolicy(t *testing.T) {
	const policy = "orbgate: 1\napis: { a: { base_path: '', scopes: { %s: { orbs: false, routes: [GET /a] } } } }\n"
	handle := new(orbgate.Handle)
	store := func(scope string) {
		engine, err := orbgate.FromYAML(fmt.Sprintf(policy, scope))
		if err != nil {
			t.Fatal(err)
		}
		handle.Store(engine)
		engine.Close()
	}
	for _, row := range []struct {
		before, after string
		status        int
	}{{"read:orbs", "write:a", 403}, {"write:a", "read:orbs", 0}} {
		i := newIssuer(t)
		asked, answer := make(chan struct{}), make(chan struct{})
		i.answer = func(w http.ResponseWriter) {
			asked <- struct{}{}
			<-answer
			json.NewEncoder(w).Encode(map[string]any{"issuer": i.URL, "jwks_uri": i.URL + "/keys"})
		}
		protect := newGate(t, i, gate.Config{Policy: handle})
		store(row.before)
		found := make(chan gate.Answer)
		request := gate.Request{Method: "GET", Target: "/a", Authorization: []string{"Bearer " + i.token(t, "ec", nil)}}
		go func() { found <- protect.Ask(t.Context(), request) }()
		<-asked
		store(row.after)
		i.mutex.Lock()
		i.answer = nil // and the keys come at once
		i.mutex.Unlock()
		close(answer)
		if answer := <-found; answer.HTTPStatus() != row.status || answer.Decision.Scope() != row.after {
			t.Errorf("%s, then %s: %+v", row.before, row.after, answer)
		}
	}
}

func TestARouterIsComparedWithThePolicy(t *testing.T) {
	i := newIssuer(t)
	var misrouted sync.Map
	protect := newGate(t, i, gate.Config{Template: gate.Pattern, Count: func(name string, labels ...gate.Label) {
		if name == "orbgate_misrouted_total" {
			misrouted.Store(fmt.Sprint(labels), true)
		}
	}})
	mux := http.NewServeMux()
	handler := protect.Middleware(http.HandlerFunc(service))
	mux.Handle("GET /api/v1/external/voxies/{id}", handler)
	mux.Handle("GET /api/v1/external/voxies/export", handler)
	mux.Handle("/", handler)
	server := httptest.NewServer(mux)
	defer server.Close()
	token := bearer(i.token(t, "ec", map[string]any{"scope": "read:voxies read:orbs"}))
	for target, status := range map[string]int{"/voxies/7": 200, "/voxies/export": 404, "/orbs": 404} {
		if found := call(t, server, "GET", "/api/v1/external"+target, token); found.status != status {
			t.Errorf("%s: %v", target, found)
		}
	}
	// The same labels as in every language: the route that the policy allows it by, and where the router went.
	for _, labels := range []string{
		"[{route GET /api/v1/external/voxies/{voxieId}} {matched /api/v1/external/voxies/export}]",
		"[{route GET /api/v1/external/orbs} {matched /}]",
	} {
		if _, found := misrouted.LoadAndDelete(labels); !found {
			t.Errorf("not counted: %s", labels)
		}
	}
	misrouted.Range(func(labels, _ any) bool {
		t.Errorf("counted: %s", labels)
		return true
	})
	err := protect.CheckRoutes([]gate.Route{{"GET", "/api/v1/external/voxies/export"}, {"GET", "/api/v1/external/voxies/{id:[0-9]+}"}})
	var differ *gate.RoutesError
	if !errors.As(err, &differ) || len(differ.Undeclared) != 1 || differ.Undeclared[0].DecidedAs != "GET /api/v1/external/voxies/{voxieId}" {
		t.Fatalf("%v", err)
	}
	engine, err := orbgate.External()
	if err != nil || len(differ.Unserved) != engine.RouteCount()-1 {
		t.Errorf("%v %d", err, len(differ.Unserved))
	}
}

func TestAConfigurationWithErrorsIsRefused(t *testing.T) {
	engine, err := orbgate.External()
	if err != nil {
		t.Fatal(err)
	}
	handle := orbgate.NewHandle(engine)
	_, err = gate.New(gate.Config{Policy: handle, Tokens: "orbgate_token: 1\nissuers:\n  - issuer: ''\n    audience: ''\n    kind: user\n"})
	var failure *orbgate.Error
	if !errors.As(err, &failure) || len(failure.Diagnostics) != 2 || failure.Diagnostics[0].Line != 3 || !errors.Is(err, orbgate.StatusInvalidConfiguration) {
		t.Errorf("%v", err)
	}
	for _, challenge := range []gate.Challenge{{Full: true, Realm: "\""}, {Realm: "orbs"}} {
		if _, err := gate.New(gate.Config{Policy: handle, Tokens: newIssuer(t).tokens(), Challenge: challenge}); err == nil {
			t.Errorf("%+v", challenge)
		}
	}
	if _, err := gate.New(gate.Config{Tokens: newIssuer(t).tokens()}); err == nil {
		t.Error("a gate without a policy")
	}
	missing := filepath.Join(t.TempDir(), "missing.yaml")
	for _, files := range [][2]string{{missing, missing}, {"../../../../policy/external.yaml", missing}, {"../../../../policy/external.yaml", "gate.go"}, {"../../../../policy/external.yaml", "/dev/zero"}} {
		if _, err := gate.FromFiles(files[0], files[1]); err == nil || !strings.Contains(err.Error(), files[1]) {
			t.Errorf("%v: %v", files, err)
		}
	}
}
