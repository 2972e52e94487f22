package main

import (
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	"github.com/labstack/echo/v4"

	"github.com/orbgate/orbgate/bindings/go/orbgate"
	"github.com/orbgate/orbgate/bindings/go/orbgate/gate"
)

const shop = `orbgate: 1
apis:
  shop:
    base_path: ""
    scopes:
      read:orders: { orbs: false, routes: [GET /orders, "GET /orders/{id}"] }
`

func shopGate(t *testing.T, templates gate.Templates) (protect *gate.Gate, authorization string) {
	t.Helper()
	tokens := issuer(t)
	engine, err := orbgate.FromYAML(shop)
	if err != nil {
		t.Fatal(err)
	}
	protect, err = gate.New(gate.Config{Policy: orbgate.NewHandle(engine), Tokens: tokens.Tokens(), Templates: templates, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { protect.Close() })
	return protect, tokens.Bearer(orbgate.KindUser, "read:orders")
}

// The routes of each framework as it lists them. The gate sees those that are added after it, and not the one before.
func TestEachFrameworkListsTheRoutesThatItsGateSees(t *testing.T) {
	for name, row := range map[string]struct {
		templates gate.Templates
		late      string
		service   func(protect *gate.Gate, late bool) (http.Handler, []gate.Route)
	}{
		"chi": {gate.Braces, "/orders/{id}", func(protect *gate.Gate, late bool) (http.Handler, []gate.Route) {
			router := chi.NewRouter()
			gated := router.With(Chi(protect))
			gated.Get("/orders", func(http.ResponseWriter, *http.Request) {})
			if late {
				router.Get("/orders/{id}", func(http.ResponseWriter, *http.Request) {})
			} else {
				gated.Get("/orders/{id}", func(http.ResponseWriter, *http.Request) {})
			}
			var routes []gate.Route
			_ = chi.Walk(router, func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
				routes = append(routes, gate.Route{Method: method, Template: route})
				return nil
			})
			return router, routes
		}},
		"gin": {gate.Colons, "/orders/:id", func(protect *gate.Gate, late bool) (http.Handler, []gate.Route) {
			gin.SetMode(gin.ReleaseMode)
			router := gin.New()
			router.RedirectTrailingSlash = false
			if late {
				router.GET("/orders/:id", func(*gin.Context) {})
			}
			router.Use(Gin(protect))
			router.GET("/orders", func(*gin.Context) {})
			if !late {
				router.GET("/orders/:id", func(*gin.Context) {})
			}
			var routes []gate.Route
			for _, route := range router.Routes() {
				routes = append(routes, gate.Route{Method: route.Method, Template: route.Path})
			}
			return router, routes
		}},
		"echo": {gate.Colons, "/orders/:id", func(protect *gate.Gate, late bool) (http.Handler, []gate.Route) {
			router := echo.New()
			done := func(c echo.Context) error { return c.NoContent(http.StatusOK) }
			gated := router.Group("", Echo(protect))
			gated.GET("/orders", done)
			if late {
				router.GET("/orders/:id", done)
			} else {
				gated.GET("/orders/:id", done)
			}
			var routes []gate.Route
			for _, route := range router.Routes() {
				if route.Method != echo.RouteNotFound { // a group's fallback
					routes = append(routes, gate.Route{Method: route.Method, Template: route.Path})
				}
			}
			return router, routes
		}},
	} {
		protect, _ := shopGate(t, row.templates)
		if err := protect.CheckHandler(row.service(protect, false)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var differ *gate.RoutesError
		err := protect.CheckHandler(row.service(protect, true))
		if !errors.As(err, &differ) || !slices.Equal(differ.Ungated, []string{"GET " + row.late}) || differ.Undeclared != nil || differ.Unserved != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
