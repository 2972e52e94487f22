// Command mcpserver is an MCP server of the Go SDK with one planted fault, or none, for the tests of `orbgate mcp probe`.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var fault = os.Args[1]

func verify(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
	if token != "good" && !(token == "other" && fault == "audience") {
		return nil, auth.ErrInvalidToken
	}
	return &auth.TokenInfo{UserID: token, Scopes: []string{"orders:read"}, Expiration: time.Now().Add(time.Hour)}, nil
}

// Gives `refund` a scope that no token has.
func guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		var batch []json.RawMessage
		if fault == "batch" && json.Unmarshal(body, &batch) == nil && len(batch) > 0 {
			body = batch[0] // It checks only the first message.
		}
		var message struct {
			ID     json.RawMessage
			Method string
			Params struct{ Name string }
		}
		_ = json.Unmarshal(body, &message)
		if len(batch) > 0 {
			body = batch[len(batch)-1]
		}
		name := message.Params.Name
		if header := r.Header.Get("Mcp-Name"); fault == "name" && header != "" {
			name = header
		}
		switch {
		case name == "refund" && fault == "error":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"isError":true,"content":[]}}`, message.ID)
		case name == "refund":
			w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="orders:write"`)
			w.WriteHeader(http.StatusForbidden)
		default:
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			next.ServeHTTP(w, r)
		}
	})
}

func main() {
	server := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, nil)
	for _, name := range []string{"list_orders", "refund"} {
		mcp.AddTool(server, &mcp.Tool{Name: name}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return new(mcp.CallToolResult), nil, nil
		})
	}
	handler := guard(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true}))
	handler = auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{ResourceMetadataURL: "https://api.example.com/.well-known/oauth-protected-resource"})(handler)
	http.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		if fault == "open" && r.Header.Get("Mcp-Method") == "tools/list" {
			r.Header.Set("Authorization", "Bearer good")
		}
		handler.ServeHTTP(w, r)
	})
	listening, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Printf("listening http://%s/mcp\n", listening.Addr())
	panic(http.Serve(listening, nil))
}
