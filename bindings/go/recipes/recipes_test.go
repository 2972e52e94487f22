package main

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
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

func shopGate(t *testing.T, templates gate.Templates, preflights bool) (protect *gate.Gate, authorization string) {
	t.Helper()
	return shopGateOf(t, shop, templates, preflights)
}

func shopGateOf(t *testing.T, policy string, templates gate.Templates, preflights bool) (protect *gate.Gate, authorization string) {
	t.Helper()
	tokens := issuer(t)
	engine, err := orbgate.FromYAML(policy)
	if err != nil {
		t.Fatal(err)
	}
	protect, err = gate.New(gate.Config{Policy: orbgate.NewHandle(engine), Tokens: tokens.Tokens(), Templates: templates, CorsPreflight: preflights, Logger: slog.New(slog.DiscardHandler)})
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
		protect, _ := shopGate(t, row.templates, false)
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

// None of these routers tells whether its handler is only for OPTIONS, so no preflight reaches one without a token.
func TestAPreflightReachesNoHandlerForAllMethods(t *testing.T) {
	for name, service := range map[string]func(protect *gate.Gate) http.Handler{
		"chi": func(protect *gate.Gate) http.Handler {
			router := chi.NewRouter()
			router.With(Chi(protect)).HandleFunc("/orders", func(http.ResponseWriter, *http.Request) {})
			return router
		},
		"gin": func(protect *gate.Gate) http.Handler {
			gin.SetMode(gin.ReleaseMode)
			router := gin.New()
			router.Use(Gin(protect))
			router.Any("/orders", func(*gin.Context) {})
			return router
		},
		"echo": func(protect *gate.Gate) http.Handler {
			router := echo.New()
			router.Group("", Echo(protect)).Any("/orders", func(c echo.Context) error { return c.NoContent(http.StatusOK) })
			return router
		},
	} {
		protect, authorization := shopGate(t, gate.Braces, true)
		handler := service(protect)
		// A pattern of a mux around the router says nothing about the router's handlers.
		within := http.NewServeMux()
		within.Handle("GET /", handler)
		within.Handle("OPTIONS /", handler)
		send := func(handler http.Handler, method, authorization string) int {
			request := httptest.NewRequest(method, "/orders", nil)
			request.Header.Set("Origin", "https://a.example")
			request.Header.Set("Access-Control-Request-Method", http.MethodGet)
			if authorization != "" {
				request.Header.Set("Authorization", authorization)
			}
			response := httptest.NewRecorder()
			handler.ServeHTTP(response, request)
			return response.Code
		}
		for _, handler := range []http.Handler{handler, within} {
			if allowed, preflight := send(handler, http.MethodGet, authorization), send(handler, http.MethodOptions, ""); allowed != 200 || preflight != 401 {
				t.Errorf("%s: %d %d", name, allowed, preflight)
			}
		}
	}
}

// Middleware around chi's handlers compares the patterns that chi reports, but not those of routers inside.
func TestMiddlewareInChiComparesItsRoutes(t *testing.T) {
	protect, authorization := shopGate(t, gate.Braces, false)
	done := func(http.ResponseWriter, *http.Request) {}
	router := chi.NewRouter()
	router.With(protect.Middleware).Get("/orders", done)
	router.With(protect.Middleware).Get("/orders/export", done)
	router.Route("/orders/{id}", func(below chi.Router) {
		below.Use(protect.Middleware)
		below.Get("/", done)
	})
	mounting := chi.NewRouter()
	mounting.With(protect.Middleware).Mount("/", http.HandlerFunc(done))
	slashes := chi.NewRouter()
	always, alwaysAuthorization := shopGateOf(t, "trailing_slash: always\n"+shop, gate.Braces, false)
	slashes.With(always.Middleware).Get("/orders/", done)
	for _, row := range []struct {
		handler               http.Handler
		target, authorization string
		status                int
	}{
		{router, "/orders", authorization, 200}, {router, "/orders/7", authorization, 200}, {router, "/orders/export", authorization, 404},
		{mounting, "/orders", authorization, 200}, {slashes, "/orders/", alwaysAuthorization, 200},
	} {
		request := httptest.NewRequest(http.MethodGet, row.target, nil)
		request.Header.Set("Authorization", row.authorization)
		response := httptest.NewRecorder()
		row.handler.ServeHTTP(response, request)
		if response.Code != row.status {
			t.Errorf("%s: %d", row.target, response.Code)
		}
	}
}
