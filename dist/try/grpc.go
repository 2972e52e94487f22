// A gRPC server with the gate of two files, and a client without a token: what its call and its stream get.
package main

import (
	"context"
	"fmt"
	"log"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/orbgate/orbgate/bindings/go/grpcgate"
	"github.com/orbgate/orbgate/bindings/go/orbgate/gate"
)

func main() {
	protect, err := gate.FromFiles("policy.yaml", "tokens.yaml")
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer(grpcgate.Options(protect)...)
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go func() { log.Fatal(server.Serve(listener)) }()
	connection, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	client := grpc_health_v1.NewHealthClient(connection)
	_, call := client.Check(context.Background(), nil)
	watch, err := client.Watch(context.Background(), nil)
	if err != nil {
		log.Fatal(err)
	}
	_, stream := watch.Recv()
	fmt.Println(status.Code(call), status.Code(stream))
}
