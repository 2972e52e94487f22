package main

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/orbgate/orbgate/bindings/go/orbgate"
	"github.com/orbgate/orbgate/bindings/go/orbgate/gate"
)

const policy = `orbgate: 1
apis:
  health:
    base_path: ''
    scopes:
      read:health: { orbs: false, routes: [POST /grpc.health.v1.Health/Check] }
`

// An issuer with a real server and one key: where it is, and what makes its tokens.
func issuer(t *testing.T) (url string, token func(claims map[string]any) string) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	text := base64.RawURLEncoding.EncodeToString
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"keys":[{"kty":"OKP","crv":"Ed25519","alg":"EdDSA","kid":"one","x":"%s"}]}`, text(public))
	}))
	t.Cleanup(server.Close)
	return server.URL, func(claims map[string]any) string {
		body, err := json.Marshal(claims)
		if err != nil {
			t.Fatal(err)
		}
		signed := text([]byte(`{"alg":"EdDSA","kid":"one","typ":"at+jwt"}`)) + "." + text(body)
		return signed + "." + text(ed25519.Sign(private, []byte(signed)))
	}
}

// The configuration that trusts it.
func configuration(url string) string {
	return fmt.Sprintf("orbgate_token: 1\nissuers: [{ issuer: '%s', audience: api, algorithms: [EdDSA], kind: user, jwks_uri: '%s' }]\n", url, url)
}

func claims(url, scope string) map[string]any {
	return map[string]any{"iss": url, "aud": "api", "sub": "me", "client_id": "app", "exp": time.Now().Unix() + 600, "scope": scope}
}

// What a call of the health service finds in its context.
type seen struct {
	grpc_health_v1.HealthServer
	calls chan gate.Call
}

func (s seen) Check(ctx context.Context, request *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	call, _ := gate.From(ctx)
	s.calls <- call
	return s.HealthServer.Check(ctx, request)
}

// The other recipes go through the exchanges of policy/cases/gate.
func TestACallOfGRPCIsAnswered(t *testing.T) {
	url, token := issuer(t)
	engine, err := orbgate.FromYAML(policy)
	if err != nil {
		t.Fatal(err)
	}
	protect, err := gate.New(gate.Config{Policy: orbgate.NewHandle(engine), Tokens: configuration(url), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer protect.Close()
	server := grpc.NewServer(grpc.UnaryInterceptor(GRPC(protect)))
	service := seen{health.NewServer(), make(chan gate.Call, 1)}
	grpc_health_v1.RegisterHealthServer(server, service)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	defer server.Stop()
	connection, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	client := grpc_health_v1.NewHealthClient(connection)
	bearer := func(token string) []string { return []string{"authorization", "Bearer " + token} }
	right := bearer(token(claims(url, "read:health")))
	for name, row := range map[string]struct {
		metadata []string
		code     codes.Code
	}{
		"right":         {right, codes.OK},
		"no token":      {nil, codes.Unauthenticated},
		"no JWT":        {bearer("a.b.c"), codes.Unauthenticated},
		"two tokens":    {append(right[:2:2], right...), codes.Unauthenticated},
		"another scope": {bearer(token(claims(url, "read:orbs"))), codes.PermissionDenied},
	} {
		response, err := client.Check(metadata.AppendToOutgoingContext(t.Context(), row.metadata...), nil)
		if status.Code(err) != row.code {
			t.Errorf("%s: %v", name, err)
		}
		select {
		case call := <-service.calls:
			known := call.Token.Subject == "me" && call.Decision.Scope() == "read:health"
			if row.code != codes.OK || !known || response.Status != grpc_health_v1.HealthCheckResponse_SERVING {
				t.Errorf("%s: reached the service with %+v", name, call)
			}
		default:
			if row.code == codes.OK {
				t.Errorf("%s: did not reach the service", name)
			}
		}
	}
	// A method that the policy lacks.
	if _, err := client.List(metadata.AppendToOutgoingContext(t.Context(), right...), nil); status.Code(err) != codes.PermissionDenied {
		t.Error(err)
	}
}
