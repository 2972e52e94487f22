package main

import (
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
			answer := protect.AskRouted(r, template)
			if !answer.IsAllow() {
				answer.Deny(w)
				return
			}
			next.ServeHTTP(w, r.WithContext(gate.With(r.Context(), answer)))
		})
	}
}

// Gin is a middleware for gin: router.Use(Gin(protect)), with [gate.Colons]. Set RedirectTrailingSlash to false,
// because a redirect to another spelling of a path would come before the middleware.
func Gin(protect *gate.Gate) gin.HandlerFunc {
	return func(c *gin.Context) {
		answer := protect.AskRouted(c.Request, c.FullPath())
		if !answer.IsAllow() {
			answer.Deny(c.Writer)
			c.Writer.WriteHeaderNow() // or gin writes a page of its own for a 404
			c.Abort()
			return
		}
		c.Request = c.Request.WithContext(gate.With(c.Request.Context(), answer))
	}
}

// Echo is a middleware for echo: e.Use(Echo(protect)), with [gate.Colons].
func Echo(protect *gate.Gate) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			answer := protect.AskRouted(c.Request(), c.Path())
			if !answer.IsAllow() {
				answer.Deny(c.Response())
				return nil
			}
			c.SetRequest(c.Request().WithContext(gate.With(c.Request().Context(), answer)))
			return next(c)
		}
	}
}
