package gatetest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/orbgate/orbgate/bindings/go/orbgate"
	"github.com/orbgate/orbgate/bindings/go/orbgate/gate"
	"github.com/orbgate/orbgate/bindings/go/orbgate/gate/gatetest"
)

func get(t *testing.T, url string) string {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %v", url, answer.Status, err)
	}
	return strings.TrimSpace(string(body))
}

func TestItsTokensAreVerified(t *testing.T) {
	issuer, err := gatetest.Start(0)
	if err != nil {
		t.Fatal(err)
	}
	defer issuer.Close()
	engine, err := orbgate.External()
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	protect, err := gate.New(gate.Config{Policy: orbgate.NewHandle(engine), Tokens: get(t, issuer.URL+"/tokens.yaml")})
	if err != nil {
		t.Fatal(err)
	}
	defer protect.Close()
	for bearer, expected := range map[string]struct {
		status int
		kind   orbgate.TokenKind
	}{
		"": {401, orbgate.KindNone},
		issuer.Bearer(orbgate.KindUser, "read:account"):                           {403, orbgate.KindUser},
		issuer.Bearer(orbgate.KindOrganisation, "read:orbs"):                      {0, orbgate.KindOrganisation},
		"Bearer " + get(t, issuer.URL+"/token?scope=read:account%20read:orbs"):    {0, orbgate.KindUser},
		"Bearer " + get(t, issuer.URL+"/token?kind=organisation&scope=read:orbs"): {0, orbgate.KindOrganisation},
	} {
		answer := protect.Ask(t.Context(), gate.Request{Method: "GET", Target: "/api/v1/external/orbs", Authorization: []string{bearer}})
		kind := orbgate.KindNone
		if answer.Token != nil {
			kind = answer.Token.Kind
		}
		if answer.HTTPStatus() != expected.status || kind != expected.kind {
			t.Errorf("%s: %+v", bearer, answer)
		}
	}
}
