package main

import (
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/orbgate/orbgate/bindings/go/orbgate/gate"
)

// MCP is a service with an MCP server of the official SDK, each of whose tools has a scope. docs/mcp.md prints it.
func MCP(server *mcp.Server, policy, tokens, resource string) (http.Handler, error) {
	protect, err := gate.FromFiles(policy, tokens, func(config *gate.Config) {
		config.MCP = gate.MCP{Path: "/mcp", InitialScopes: "mcp:connect"}
		config.Resource = resource // such as https://api.example.com/mcp
	})
	if err != nil {
		return nil, err
	}
	serverOf := func(*http.Request) *mcp.Server { return server }
	// Without sessions of older versions, because the SDK lets any caller use them.
	options := &mcp.StreamableHTTPOptions{Stateless: true}
	mux := http.NewServeMux()
	mux.Handle("/mcp", mcp.NewStreamableHTTPHandler(serverOf, options))
	return protect.Mux(mux), protect.CheckMux(mux)
}
