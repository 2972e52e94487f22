package main

import (
	"context"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/orbgate/orbgate/bindings/go/orbgate/gate"
)

// ListCallable makes an MCP server of the official SDK list only tools that the caller's token may call. docs/mcp.md prints it.
func ListCallable(server *mcp.Server, protect *gate.Gate) {
	server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
			result, err := next(ctx, method, request)
			list, is := result.(*mcp.ListToolsResult)
			if err != nil || !is {
				return result, err
			}
			var names []string
			for _, tool := range list.Tools {
				names = append(names, tool.Name)
			}
			var visible []string
			if call, gated := gate.From(ctx); gated {
				visible = protect.Visible(call.Token, "tools/call", names)
			}
			listed := *list
			listed.Tools = slices.DeleteFunc(slices.Clone(list.Tools), func(tool *mcp.Tool) bool { return !slices.Contains(visible, tool.Name) })
			return &listed, nil
		}
	})
}
