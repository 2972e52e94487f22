package main

import (
	"fmt"
	"log/slog"
	"net"
	"testing"

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

const tokens = "orbgate_token: 1\nissuers: [{ issuer: 'https://id.example.com', audience: api, kind: user, jwks_uri: 'http://127.0.0.1:1/keys' }]\n"

// The other recipes go through the exchanges of policy/cases/gate.
func TestACallWithoutATokenIsUnauthenticated(t *testing.T) {
	engine, err := orbgate.FromYAML("orbgate: 1\napis: { health: { base_path: '', scopes: { read:health: { orbs: false, routes: [POST /grpc.health.v1.Health/Check] } } } }\n")
	if err != nil {
		t.Fatal(err)
	}
	protect, err := gate.New(gate.Config{Policy: orbgate.NewHandle(engine), Tokens: tokens, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer protect.Close()
	server := grpc.NewServer(grpc.UnaryInterceptor(GRPC(protect)))
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
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
	for _, authorization := range [][]string{nil, {"authorization", "Bearer a.b.c"}, {"authorization", "Bearer x", "authorization", "Bearer y"}} {
		ctx := metadata.AppendToOutgoingContext(t.Context(), authorization...)
		if _, err := client.Check(ctx, nil); status.Code(err) != codes.Unauthenticated {
			t.Error(fmt.Sprint(authorization), err)
		}
	}
	if _, err := client.List(t.Context(), nil); status.Code(err) != codes.Unauthenticated {
		t.Error(err)
	}
}
