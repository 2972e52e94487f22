// Package grpcgate protects a gRPC server with a gate:
//
//	server := grpc.NewServer(grpcgate.Options(protect)...)
//
// In a policy, a gRPC method is a route, such as `POST /grpc.health.v1.Health/Check`.
//
// A stream is decided once, when it opens. It continues after its token has expired, and after the policy has changed.
// To end it with its token, use [gate.Token.Expires] as a deadline in its handler.
//
// It can't charge: if routes of the policy consume orbs, the gate's log says so, and a gate with a ledger denies every call.
package grpcgate

import (
	"context"
	"net/http"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/orbgate/orbgate/bindings/go/orbgate/gate"
)

// Options make a server accept only the calls and streams that the policy allows, including those of
// [grpc.UnknownServiceHandler]. The gate runs before interceptors of [grpc.ChainUnaryInterceptor] and
// [grpc.ChainStreamInterceptor] in later options, and after those in earlier options.
func Options(protect *gate.Gate) []grpc.ServerOption {
	return []grpc.ServerOption{grpc.ChainUnaryInterceptor(Unary(protect)), grpc.ChainStreamInterceptor(Stream(protect))}
}

// Unary is the interceptor for calls, for a server that orders interceptors itself. Use [Stream] with
// it.
func Unary(protect *gate.Gate) grpc.UnaryServerInterceptor {
	protect.Uncharged()
	return func(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		ctx, err := ask(ctx, protect, info.FullMethod)
		if err != nil {
			return nil, err
		}
		return handler(ctx, request)
	}
}

// Stream is the interceptor for streams, for a server that orders interceptors itself. Use [Unary] with
// it.
func Stream(protect *gate.Gate) grpc.StreamServerInterceptor {
	protect.Uncharged()
	return func(service any, of grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
		ctx, err := ask(of.Context(), protect, info.FullMethod)
		if err != nil {
			return err
		}
		return handler(service, stream{of, ctx})
	}
}

// A stream with the gate's decision in its context.
type stream struct {
	grpc.ServerStream
	ctx context.Context
}

func (s stream) Context() context.Context { return s.ctx }

func ask(ctx context.Context, protect *gate.Gate, method string) (context.Context, error) {
	headers, _ := metadata.FromIncomingContext(ctx)
	request := gate.Request{
		// A `?` belongs to the method's name here, and doesn't begin a query. Escaped, every policy denies it.
		Method: http.MethodPost, Target: strings.ReplaceAll(method, "?", "%3F"), Authorization: headers.Get("authorization"),
		Upgrade: headers.Get("upgrade"), Origin: headers.Get("origin"), AccessControlRequestMethod: headers.Get("access-control-request-method"),
		DPoP: headers.Get("dpop"),
	}
	if from, known := peer.FromContext(ctx); known {
		if tls, is := from.AuthInfo.(credentials.TLSInfo); is && len(tls.State.PeerCertificates) > 0 {
			request.Certificate = tls.State.PeerCertificates[0].Raw
		}
	}
	for name := range headers {
		if strings.Contains(name, "method") {
			request.HeaderNames = append(request.HeaderNames, name)
		}
	}
	answer := protect.Ask(ctx, request)
	switch {
	case answer.IsAllow():
		return gate.With(ctx, answer), nil
	case answer.HTTPStatus() == http.StatusUnauthorized:
		return nil, status.Error(codes.Unauthenticated, "")
	}
	return nil, status.Error(codes.PermissionDenied, "")
}

// From returns the gate's decision on the call that a handler serves, from its context or its stream's. The error, with
// [codes.Internal], means that no gate protects the server: return it.
func From(ctx context.Context) (gate.Call, error) {
	call, ok := gate.From(ctx)
	if !ok {
		return gate.Call{}, status.Error(codes.Internal, "")
	}
	return call, nil
}
