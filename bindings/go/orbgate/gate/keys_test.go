package gate_test

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/orbgate/orbgate/bindings/go/orbgate"
	"github.com/orbgate/orbgate/bindings/go/orbgate/gate"
)

func TestEveryAlgorithmIsChecked(t *testing.T) {
	i := newIssuer(t)
	protect := newGate(t, i, gate.Config{})
	other := newIssuer(t)
	// The names of `Algorithm` in the library, without the ones that need a secret.
	source, err := os.ReadFile("../../../../crates/orbgate-token/src/algorithm.rs")
	if err != nil {
		t.Fatal(err)
	}
	missing := map[string]bool{}
	for _, match := range regexp.MustCompile(`=> "([A-GI-Z]\w+)"`).FindAllStringSubmatch(string(source), -1) {
		missing[match[1]] = true
	}
	if len(missing) != 11 {
		t.Errorf("the library has the algorithms %v", missing)
	}
	for kid, signer := range i.signers {
		delete(missing, signer.algorithm)
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
	if len(missing) > 0 {
		t.Errorf("not tested: %v", missing)
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

func TestKeysAreRevokedAndForgotten(t *testing.T) {
	i := newIssuer(t)
	protect := newGate(t, i, gate.Config{})
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

func TestTheDefaultClientTrustsTheRootsOfTheProgram(t *testing.T) {
	i := newIssuer(t)
	i.Server = httptest.NewTLSServer(http.HandlerFunc(i.serve))
	defer i.Close()
	transport := http.DefaultTransport.(*http.Transport)
	before := transport.TLSClientConfig
	defer func() { transport.TLSClientConfig = before }()
	transport.TLSClientConfig = &tls.Config{RootCAs: i.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}
	protect := newGate(t, i, gate.Config{})
	if err := protect.Warm(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAnIssuerThatFailsIsNamed(t *testing.T) {
	i := newIssuer(t)
	i.answer = func(w http.ResponseWriter) { w.WriteHeader(500) }
	if err := newGate(t, i, gate.Config{}).Warm(t.Context()); err == nil || !strings.Contains(err.Error(), i.URL) || i.fetches.Load() != 1 {
		t.Errorf("%v after %d fetches", err, i.fetches.Load())
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

// How many tokens may wait for keys is bounded, so a caller that goes away must give up its slot.
func TestCallersThatGoAwayLeaveRoomForOthers(t *testing.T) {
	i := newIssuer(t)
	protect := newGate(t, i, gate.Config{})
	good := gate.Request{Method: "GET", Target: orbs, Authorization: []string{"Bearer " + i.token(t, "ec", nil)}}
	if answer := protect.Ask(t.Context(), good); !answer.IsAllow() {
		t.Fatalf("%+v", answer)
	}
	requests, answers := make(chan struct{}, 1), make(chan struct{})
	answer := sync.OnceFunc(func() { close(answers) })
	defer answer()
	i.mutex.Lock()
	i.answer = func(w http.ResponseWriter) {
		requests <- struct{}{}
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
	<-requests
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

func TestKeysAreUsedForAsLongAsTheirIssuerSays(t *testing.T) {
	for cache, isShort := range map[string]bool{"max-age=60": true, "public": false} {
		i := newIssuer(t)
		i.cache = cache
		protect := newGate(t, i, gate.Config{})
		if err := protect.Warm(t.Context()); err != nil {
			t.Fatal(err)
		}
		fetches := i.fetches.Load()
		protect.Later(61 * time.Second)
		request := gate.Request{Method: "GET", Target: orbs, Authorization: []string{"Bearer " + i.token(t, "ec", nil)}}
		if !protect.Ask(t.Context(), request).IsAllow() {
			t.Errorf("%s: the keys are not used", cache)
		}
		// The answer doesn't wait for the fetch.
		for end := time.Now().Add(20 * time.Second); isShort && i.fetches.Load() == fetches && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		protect.Close()
		if isShort != (i.fetches.Load() > fetches) {
			t.Errorf("%s: %d fetches after %d", cache, i.fetches.Load(), fetches)
		}
	}
}
