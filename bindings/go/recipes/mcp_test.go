package main

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"github.com/orbgate/orbgate/bindings/go/orbgate"
	"github.com/orbgate/orbgate/bindings/go/orbgate/gate"
	"github.com/orbgate/orbgate/bindings/go/orbgate/gate/gatetest"
)

// Gets a token with the scopes of each challenge, and those that it had.
type stepping struct {
	issuer     *gatetest.Issuer
	challenges []string
	scopes     []string
}

func (s *stepping) TokenSource(context.Context) (oauth2.TokenSource, error) {
	if s.scopes == nil {
		return nil, nil
	}
	bearer := s.issuer.Bearer(orbgate.KindUser, strings.Join(s.scopes, " "))
	return oauth2.StaticTokenSource(&oauth2.Token{AccessToken: strings.TrimPrefix(bearer, "Bearer ")}), nil
}

func (s *stepping) Authorize(_ context.Context, _ *http.Request, response *http.Response) error {
	defer response.Body.Close()
	challenges, err := oauthex.ParseWWWAuthenticate(response.Header["Www-Authenticate"])
	if err != nil {
		return err
	}
	scope := challenges[0].Params["scope"]
	s.challenges = append(s.challenges, scope)
	for _, one := range strings.Fields(scope) {
		if !slices.Contains(s.scopes, one) {
			s.scopes = append(s.scopes, one)
		}
	}
	return nil
}

// The guide's service with two tools, and how often they ran.
func shopOfMCP(t *testing.T) (tokens *gatetest.Issuer, url string, listed, refunded *atomic.Int32) {
	t.Helper()
	tokens = issuer(t)
	server := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, nil)
	tool := func(name string) *atomic.Int32 {
		ran := new(atomic.Int32)
		mcp.AddTool(server, &mcp.Tool{Name: name}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			ran.Add(1)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: name}}}, nil, nil
		})
		return ran
	}
	listed, refunded = tool("list_orders"), tool("refund")
	file := filepath.Join(t.TempDir(), "tokens.yaml")
	if err := os.WriteFile(file, []byte(tokens.Tokens()), 0o600); err != nil {
		t.Fatal(err)
	}
	handler, err := MCP(server, "../../../policy/cases/mcp/policy.yaml", file, "https://service.test")
	if err != nil {
		t.Fatal(err)
	}
	service := httptest.NewServer(handler)
	t.Cleanup(service.Close)
	return tokens, service.URL + "/mcp", listed, refunded
}

// The client and the server of the SDK as they are: the client is challenged, steps up twice, and each tool runs once.
func TestAClientOfMCPStepsUp(t *testing.T) {
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		tokens, url, listed, refunded := shopOfMCP(t)
		handler := &stepping{issuer: tokens}
		transport := &mcp.StreamableClientTransport{Endpoint: url, OAuthHandler: handler}
		client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil)
		session, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
		if err != nil {
			t.Fatalf("%s: %v", version, err)
		}
		if spoken := session.InitializeResult().ProtocolVersion; spoken != version {
			t.Errorf("it speaks %s, and not %s", spoken, version)
		}
		if session.ID() != "" {
			t.Errorf("%s: another caller could use the session", version)
		}
		tools, err := session.ListTools(t.Context(), nil)
		if err != nil || len(tools.Tools) != 2 {
			t.Errorf("%s: %v %v", version, tools, err)
		}
		for _, name := range []string{"list_orders", "refund"} {
			result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: map[string]any{}})
			if err != nil || result.IsError || result.Content[0].(*mcp.TextContent).Text != name {
				t.Errorf("%s %s: %v %v", version, name, result, err)
			}
		}
		_, err = session.CallTool(t.Context(), &mcp.CallToolParams{Name: "delete_all", Arguments: map[string]any{}})
		if err == nil || !strings.Contains(err.Error(), "unknown name") {
			t.Errorf("%s: an undeclared tool: %v", version, err)
		}
		_ = session.Close()
		if want := []string{"mcp:connect", "orders:read", "orders:write"}; !slices.Equal(handler.challenges, want) || listed.Load() != 1 || refunded.Load() != 1 {
			t.Errorf("%s: %v, %d, %d", version, handler.challenges, listed.Load(), refunded.Load())
		}
	}
}

// Of the shared requests, the server gets only those that are allowed.
func TestNoToolRunsThatIsNotAllowed(t *testing.T) {
	file, err := os.Open("../../../policy/cases/mcp/requests.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	tokens, url, listed, refunded := shopOfMCP(t)
	sent := 0
	for lines := bufio.NewScanner(file); lines.Scan(); sent++ {
		var row struct {
			Name, Body string
			Headers    []string
			BodyBase64 []byte `json:"body_base64"`
			Status     int
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		request, err := http.NewRequest(http.MethodPost, url, strings.NewReader(row.Body+string(row.BodyBase64)))
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range row.Headers {
			name, value, _ := strings.Cut(line, ": ")
			request.Header.Add(name, value)
		}
		request.Header.Set("Accept", "application/json, text/event-stream")
		request.Header.Set("Authorization", tokens.Bearer(orbgate.KindUser, "mcp:connect orders:read"))
		before := listed.Load()
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if row.Status != http.StatusOK && (response.StatusCode != row.Status || listed.Load() != before) {
			t.Errorf("%s: %d, and not %d", row.Name, response.StatusCode, row.Status)
		}
	}
	if sent != 162 || listed.Load() == 0 || refunded.Load() != 0 {
		t.Errorf("%d requests, %d, %d", sent, listed.Load(), refunded.Load())
	}
}

// The guide's list has only tools that the token may call.
func TestAListCanHaveOnlyCallableTools(t *testing.T) {
	tokens := issuer(t)
	file := filepath.Join(t.TempDir(), "tokens.yaml")
	if err := os.WriteFile(file, []byte(tokens.Tokens()), 0o600); err != nil {
		t.Fatal(err)
	}
	protect, err := gate.FromFiles("../../../policy/cases/mcp/policy.yaml", file, func(config *gate.Config) { config.MCP.Path = "/mcp" })
	if err != nil {
		t.Fatal(err)
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "shop", Version: "1"}, nil)
	for _, name := range []string{"list_orders", "refund"} {
		mcp.AddTool(server, &mcp.Tool{Name: name}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return new(mcp.CallToolResult), nil, nil
		})
	}
	ListCallable(server, protect)
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true})
	service := httptest.NewServer(protect.Middleware(handler))
	t.Cleanup(service.Close)
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		for scopes, want := range map[string]string{"": "", " orders:read": "list_orders", " orders:read orders:write": "list_orders refund"} {
			held := &stepping{issuer: tokens, scopes: strings.Fields("mcp:connect" + scopes)}
			transport := &mcp.StreamableClientTransport{Endpoint: service.URL + "/mcp", OAuthHandler: held}
			client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, nil)
			session, err := client.Connect(t.Context(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			tools, err := session.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range tools.Tools {
				names = append(names, tool.Name)
			}
			if got := strings.Join(names, " "); got != want {
				t.Errorf("%s with%s: %q", version, scopes, got)
			}
			_ = session.Close()
		}
	}
}
