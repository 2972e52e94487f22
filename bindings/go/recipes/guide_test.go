package main

import (
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/orbgate/orbgate/bindings/go/orbgate"
)

// The service of the guide, as it is written there, with the tokens of a real issuer.
func TestTheGuidesServiceAnswersAsTheGuideSays(t *testing.T) {
	guide, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(guide), "## Protect a service in ten lines\n")
	block := func(language string) string {
		_, rest, is := strings.Cut(section, "```"+language+"\n")
		text, _, ends := strings.Cut(rest, "```")
		found = found && is && ends
		return text
	}
	program, policy, shown := block("go"), block("yaml"), block("console")
	_, body, _ := strings.Cut(program, "func main() {\n")
	if lines := strings.Count(body, "\n") - 1; !found || lines > 10 {
		t.Fatalf("%v, %d lines", found, lines)
	}
	// On a free port.
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free.Close()
	elsewhere := strings.NewReplacer("127.0.0.1:8080", free.Addr().String())
	if elsewhere.Replace(program) == program {
		t.Fatal("the guide's port is another one")
	}
	program = elsewhere.Replace(program)
	tokens := issuer(t)
	home := t.TempDir()
	// Within this module, so that it builds as this test does.
	folder, err := os.MkdirTemp(".", "guide-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	for file, text := range map[string]string{
		filepath.Join(folder, "main.go"): program, filepath.Join(home, "policy.yaml"): policy, filepath.Join(home, "tokens.yaml"): tokens.Tokens(),
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	binary := filepath.Join(home, "service")
	if said, err := exec.Command("go", "build", "-o", binary, "./"+folder).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	service := exec.Command(binary)
	service.Dir, service.Stderr = home, os.Stderr
	if err := service.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = service.Process.Kill(), service.Wait() })

	address := "http://" + free.Addr().String() + "/orders"
	ask := func(authorization string) (string, *http.Response) {
		request, err := http.NewRequest(http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", authorization)
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
			response, err := http.DefaultClient.Do(request)
			if err == nil {
				defer response.Body.Close()
				body, _ := io.ReadAll(response.Body)
				return string(body), response
			}
			if time.Now().After(deadline) {
				t.Fatal(err)
			}
		}
	}
	answers := []struct{ authorization, shown, body string }{
		{"Bearer none", "401\n", ""},
		{tokens.Bearer(orbgate.KindUser, "write:orders"), "403\n", ""},
		{tokens.Bearer(orbgate.KindUser, "read:orders"), "hello, subject\n200\n", "hello, subject\n"},
	}
	for _, expected := range answers {
		body, response := ask(expected.authorization)
		status, _, _ := strings.Cut(response.Status, " ")
		if body != expected.body || body+status+"\n" != expected.shown || !strings.Contains(shown, "\n"+expected.shown) {
			t.Errorf("%s %q, not %q", response.Status, body, expected.shown)
		}
	}
}
