package gate

import (
	"net/http"
	"strings"
)

// Writer returns the writer for the response to an allowed request. At an MCP endpoint with [MCP.Origins], the response has the
// headers that browsers need, in place of the handler's own. [Gate.Mux], [Gate.Middleware] and [Gate.ServeRouted] use it; after
// [Gate.AskHTTP], pass it to the handler, which must write at least a status.
func (a Answer) Writer(w http.ResponseWriter) http.ResponseWriter {
	if !a.IsAllow() || len(a.Headers) == 0 {
		return w
	}
	return &stating{ResponseWriter: w, headers: a.Headers}
}

// A response that has what the gate states for browsers.
type stating struct {
	http.ResponseWriter
	headers  [][2]string
	hasBegun bool
}

// The head is about to be written.
func (s *stating) state() {
	if s.hasBegun {
		return
	}
	s.hasBegun = true
	header := s.Header()
	for name := range header {
		if strings.HasPrefix(strings.ToLower(name), "access-control-") {
			delete(header, name)
		}
	}
	for _, line := range s.headers {
		header.Add(line[0], line[1])
	}
}

func (s *stating) WriteHeader(status int) {
	if status >= http.StatusOK {
		s.state()
	}
	s.ResponseWriter.WriteHeader(status)
}

func (s *stating) Write(data []byte) (int, error) {
	s.state()
	return s.ResponseWriter.Write(data)
}

// Unwrap is for [http.ResponseController].
func (s *stating) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// Flush sends what is written.
func (s *stating) Flush() {
	s.state()
	_ = http.NewResponseController(s.ResponseWriter).Flush()
}
