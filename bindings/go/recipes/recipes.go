package main

import (
	"bufio"
	"net"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	"github.com/labstack/echo/v4"

	"github.com/orbgate/orbgate/bindings/go/orbgate/gate"
)

// The recipes: a gate in each framework. A denied request reaches no handler, and the router's route is compared with
// the policy.

// Chi is a middleware for chi's routes: router.With(Chi(protect)).Get(…). A middleware of a whole router, added with
// Use, doesn't know the route yet.
func Chi(protect *gate.Gate) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			template := chi.RouteContext(r.Context()).RoutePattern()
			// chi drops the final slash, which a policy with `trailing_slash: always` requires.
			if template != "/" && strings.HasSuffix(r.URL.EscapedPath(), "/") {
				template += "/"
			}
			protect.ServeRouted(w, r, template, next)
		})
	}
}

// Gin is a middleware for gin: router.Use(Gin(protect)), with [gate.Colons]. Set RedirectTrailingSlash to false,
// because a redirect to another spelling of a path would come before the middleware.
func Gin(protect *gate.Gate) gin.HandlerFunc {
	return func(c *gin.Context) {
		outer, isAllowed := c.Writer, false
		protect.ServeRouted(outer, c.Request, c.FullPath(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			isAllowed = true
			c.Request, c.Writer = r, ginWriter{outer, w}
			defer func() { c.Writer = outer }()
			c.Next()
			if !outer.Written() {
				w.WriteHeader(outer.Status()) // gin writes it later
			}
		}))
		if !isAllowed {
			outer.WriteHeaderNow() // or gin writes a page of its own for a 404
			c.Abort()
		}
	}
}

// A writer of gin. A gate with a ledger sees what is written.
type ginWriter struct {
	gin.ResponseWriter
	seen http.ResponseWriter
}

func (w ginWriter) WriteHeaderNow() {
	if !w.Written() {
		w.seen.WriteHeader(w.Status())
		w.ResponseWriter.WriteHeaderNow()
	}
}

func (w ginWriter) Write(data []byte) (int, error) {
	w.WriteHeaderNow()
	return w.seen.Write(data)
}

func (w ginWriter) WriteString(text string) (int, error) { return w.Write([]byte(text)) }

func (w ginWriter) Flush() {
	w.WriteHeaderNow()
	w.ResponseWriter.Flush()
}

func (w ginWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(w.seen).Hijack()
}

// Echo is a middleware for echo: e.Use(Echo(protect)), with [gate.Colons].
func Echo(protect *gate.Gate) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			protect.ServeRouted(c.Response(), c.Request(), c.Path(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				c.SetRequest(r)
				c.SetResponse(echo.NewResponse(w, c.Echo()))
				if err := next(c); err != nil {
					c.Error(err) // the answer that is charged, or not
				}
			}))
			return nil
		}
	}
}
