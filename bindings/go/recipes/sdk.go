package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The MCP server of the Go SDK behind the gate program, with the tools of these templates and with sessions. The driver at this URL decides
// when and how its tools end.
func sdk(templates []string, work string, isJSON bool) http.Handler {
	type arguments struct {
		Key string `json:"key"`
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "work", Version: "1"}, nil)
	for _, template := range templates {
		if _, name, is := strings.Cut(template, "/tools/call/"); is {
			mcp.AddTool(server, &mcp.Tool{Name: name}, func(ctx context.Context, _ *mcp.CallToolRequest, given arguments) (*mcp.CallToolResult, any, error) {
				return new(mcp.CallToolResult), nil, ended(ctx, work+"/"+given.Key)
			})
		}
	}
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{JSONResponse: isJSON})
}

// Tells the driver that the tool of a call has done its work, and ends as it says.
func ended(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	end, err := io.ReadAll(answer.Body)
	switch {
	case err != nil:
		return err
	case string(end) == "error":
		return &jsonrpc.Error{Code: -32000, Message: "no"}
	case string(end) == "tool error":
		return errors.New("no")
	}
	return nil
}
