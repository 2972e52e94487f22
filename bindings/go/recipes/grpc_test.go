package main

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/orbgate/orbgate/bindings/go/grpcgate"
	"github.com/orbgate/orbgate/bindings/go/orbgate"
	"github.com/orbgate/orbgate/bindings/go/orbgate/gate"
	"github.com/orbgate/orbgate/bindings/go/orbgate/gate/gatetest"
)

const policy = `orbgate: 1
apis:
  health:
    base_path: ''
    scopes:
      read:health:
        orbs: false
        routes: [POST /grpc.health.v1.Health/Check, POST /grpc.health.v1.Health/Watch, POST /other.Service/Call]
`

func issuer(t *testing.T) *gatetest.Issuer {
	t.Helper()
	started, err := gatetest.Start(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { started.Close() })
	return started
}

// What a call of the health service finds in its context.
type seen struct {
	grpc_health_v1.HealthServer
	calls chan gate.Call
}

func (s seen) Check(ctx context.Context, request *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	call, err := grpcgate.From(ctx)
	if err != nil {
		return nil, err
	}
	s.calls <- call
	return s.HealthServer.Check(ctx, request)
}

func (s seen) Watch(_ *grpc_health_v1.HealthCheckRequest, stream grpc_health_v1.Health_WatchServer) error {
	call, err := grpcgate.From(stream.Context())
	if err != nil {
		return err
	}
	s.calls <- call
	return stream.Send(&grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_SERVING})
}

// A handler of methods that the server does not know, as a proxy has it.
func (s seen) other(_ any, stream grpc.ServerStream) error {
	call, err := grpcgate.From(stream.Context())
	if err != nil {
		return err
	}
	s.calls <- call
	return stream.SendMsg(&grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_SERVING})
}

// A health service, gated by these options, and its client.
func healthOf(t *testing.T, options ...grpc.ServerOption) (service seen, connection *grpc.ClientConn) {
	t.Helper()
	service = seen{health.NewServer(), make(chan gate.Call, 1)}
	server := grpc.NewServer(append(options, grpc.UnknownServiceHandler(service.other))...)
	grpc_health_v1.RegisterHealthServer(server, service)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	connection, err = grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	return service, connection
}

// How a method is called, as one call or as a stream of answers.
func calls(connection *grpc.ClientConn) map[string]func(context.Context) (*grpc_health_v1.HealthCheckResponse, error) {
	streamed := func(method string) func(context.Context) (*grpc_health_v1.HealthCheckResponse, error) {
		return func(ctx context.Context) (*grpc_health_v1.HealthCheckResponse, error) {
			stream, err := connection.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, method)
			if err != nil {
				return nil, err
			}
			response := new(grpc_health_v1.HealthCheckResponse)
			if err := stream.SendMsg(new(grpc_health_v1.HealthCheckRequest)); err != nil {
				return nil, err
			}
			if err := stream.CloseSend(); err != nil {
				return nil, err
			}
			return response, stream.RecvMsg(response)
		}
	}
	return map[string]func(context.Context) (*grpc_health_v1.HealthCheckResponse, error){
		"call": func(ctx context.Context) (*grpc_health_v1.HealthCheckResponse, error) {
			return grpc_health_v1.NewHealthClient(connection).Check(ctx, nil)
		},
		"stream":         streamed("/grpc.health.v1.Health/Watch"),
		"unknown method": streamed("/other.Service/Call"),
	}
}

func TestCallsAndStreamsOfGRPCAreDecided(t *testing.T) {
	tokens := issuer(t)
	engine, err := orbgate.FromYAML(policy)
	if err != nil {
		t.Fatal(err)
	}
	protect, err := gate.New(gate.Config{Policy: orbgate.NewHandle(engine), Tokens: tokens.Tokens(), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer protect.Close()
	service, connection := healthOf(t, grpcgate.Options(protect)...)
	bearer := func(authorization string) []string { return []string{"authorization", authorization} }
	right := bearer(tokens.Bearer(orbgate.KindUser, "read:health"))
	for kind, call := range calls(connection) {
		for name, row := range map[string]struct {
			metadata []string
			code     codes.Code
		}{
			"right":           {right, codes.OK},
			"no token":        {nil, codes.Unauthenticated},
			"no JWT":          {bearer("Bearer a.b.c"), codes.Unauthenticated},
			"two tokens":      {append(right[:2:2], right...), codes.Unauthenticated},
			"another scope":   {bearer(tokens.Bearer(orbgate.KindUser, "read:orbs")), codes.PermissionDenied},
			"method override": {append(right[:2:2], "x-http-method-override", "GET"), codes.PermissionDenied},
		} {
			response, err := call(metadata.AppendToOutgoingContext(t.Context(), row.metadata...))
			if status.Code(err) != row.code {
				t.Errorf("%s, %s: %v", kind, name, err)
			}
			select {
			case call := <-service.calls:
				known := call.Token.Subject == "subject" && call.Decision.Scope() == "read:health"
				if row.code != codes.OK || !known || response.Status != grpc_health_v1.HealthCheckResponse_SERVING {
					t.Errorf("%s, %s: reached the service with %+v", kind, name, call)
				}
			default:
				if row.code == codes.OK {
					t.Errorf("%s, %s: did not reach the service", kind, name)
				}
			}
		}
	}
	ctx := metadata.AppendToOutgoingContext(t.Context(), right...)
	// A method that the policy lacks.
	if _, err := grpc_health_v1.NewHealthClient(connection).List(ctx, nil); status.Code(err) != codes.PermissionDenied {
		t.Error(err)
	}
	// A `?` begins no query in gRPC: the server takes it for part of an unknown method's name.
	for _, query := range []string{"?", "?x", "?/other.Service/Call"} {
		err := connection.Invoke(ctx, "/grpc.health.v1.Health/Check"+query, new(grpc_health_v1.HealthCheckRequest), new(grpc_health_v1.HealthCheckResponse))
		if status.Code(err) != codes.PermissionDenied {
			t.Errorf("%s: %v", query, err)
		}
		select {
		case <-service.calls:
			t.Errorf("%s: reached the service", query)
		default:
		}
	}
	// A server without the gate.
	_, open := healthOf(t)
	for kind, call := range calls(open) {
		if _, err := call(ctx); status.Code(err) != codes.Internal {
			t.Errorf("%s without a gate: %v", kind, err)
		}
	}
}

// gRPC's calls can't be charged.
func TestTheLogSaysThatCallsOfGRPCAreNotCharged(t *testing.T) {
	ledger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("[]")) }))
	defer ledger.Close()
	for name, row := range map[string]struct {
		orbs     string
		ledger   *gate.Ledger
		messages []string
	}{
		"free":     {"false", nil, []string{"level=INFO msg=\"charging: no ledger; routes that consume orbs: 0; account of "}},
		"consumes": {"3", nil, []string{"level=WARN msg=\"charging: no ledger, so only the handlers can charge; routes that consume orbs: 3, such as `POST /"}},
		"ledger": {"3", &gate.Ledger{URL: ledger.URL, Secret: "0123456789abcdef", OnCancelled: gate.Void}, []string{
			"level=INFO msg=\"charging: in a ledger; routes that consume orbs: 3, such as `POST /", "level=ERROR msg=\"every call of this server is denied",
		}},
	} {
		engine, err := orbgate.FromYAML(strings.Replace(policy, "orbs: false", "orbs: "+row.orbs, 1))
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		tokens := issuer(t)
		protect, err := gate.New(gate.Config{Policy: orbgate.NewHandle(engine), Tokens: tokens.Tokens(), Ledger: row.ledger, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		defer protect.Close()
		_, connection := healthOf(t, grpcgate.Options(protect)...)
		logged := log.String()
		isMissing := func(message string) bool { return !strings.Contains(logged, message) }
		if slices.ContainsFunc(row.messages, isMissing) || strings.Count(logged, "msg=") != len(row.messages) {
			t.Errorf("%s: %s", name, logged)
		}
		ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", tokens.Bearer(orbgate.KindUser, "read:health"))
		_, err = grpc_health_v1.NewHealthClient(connection).Check(ctx, nil)
		if (err == nil) != (row.ledger == nil) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
