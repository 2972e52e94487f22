module github.com/orbgate/orbgate/bindings/go/grpcgate

go 1.24.0

// In a checkout. The released module requires its own version instead: dist/pack/go.sh.
replace github.com/orbgate/orbgate/bindings/go => ../

require (
	github.com/orbgate/orbgate/bindings/go v0.0.0-00010101000000-000000000000
	google.golang.org/grpc v1.75.1
)

require (
	github.com/tetratelabs/wazero v1.11.0 // indirect
	golang.org/x/net v0.41.0 // indirect
	golang.org/x/sys v0.38.0 // indirect
	golang.org/x/text v0.26.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20250707201910-8d1bb00bc6a7 // indirect
	google.golang.org/protobuf v1.36.6 // indirect
)
