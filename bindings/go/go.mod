module github.com/orbgate/orbgate/bindings/go

go 1.24
