package io.github.orbgate.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.orbgate.Answer;
import io.github.orbgate.BearerToken;
import io.github.orbgate.BonusOrbs;
import io.github.orbgate.Engine;
import io.github.orbgate.Gate;
import io.github.orbgate.GateRequest;
import io.github.orbgate.Guard;
import io.github.orbgate.Handle;
import io.github.orbgate.Reason;
import io.github.orbgate.TokenKind;
import io.github.orbgate.testing.TestIssuer;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.StreamHandler;
import org.eclipse.jetty.ee10.servlet.FilterHolder;
import org.eclipse.jetty.ee10.servlet.FilterMapping;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.junit.jupiter.api.Test;

/** The filter in a container, registered for every dispatch; what it must answer to requests is in policy/cases/gate. */
class GateFilterTest {
    private static final String ORBS = "/api/v1/external/orbs";

    /** Without an upgrade to HTTP/2, which the gate would refuse. */
    private static final HttpClient CLIENT = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private static final List<String> DISPATCHES = List.of("forward", "async");

    /** What the servlet saw, a line for each dispatch. */
    private final List<String> seen = Collections.synchronizedList(new ArrayList<>());

    /** A filter before the gate, and one after it; they pass everything on, unless a test replaces them. */
    private Filter before = (request, response, chain) -> chain.doFilter(request, response);

    private Filter inside = before;

    /** The paths of the servlets. */
    private List<String> paths = List.of("/*");

    /** Says what it sees; with a name in its query, it begins another dispatch. */
    private final class Echo extends HttpServlet {
        private static final long serialVersionUID = 1;

        @Override
        protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException, ServletException {
            String subject = GateFilter.call(request).flatMap(call -> call.token().subject()).orElse("nobody");
            seen.add(request.getDispatcherType() + " " + request.getRequestURI() + " " + subject);
            if ("allowed".equals(request.getQueryString())) {
                GateFilter.allowed(request);
            }
            if (request.getDispatcherType() != DispatcherType.REQUEST || !DISPATCHES.contains(request.getQueryString() + "")) {
                response.getOutputStream().print("seen");
            } else if (request.getQueryString().equals("forward")) {
                request.getRequestDispatcher("/inside").forward(request, response);
            } else {
                AsyncContext async = request.startAsync();
                async.start(() -> async.dispatch("/inside"));
            }
        }
    }

    private HttpResponse<String> get(Guard gate, String target, Optional<String> bearer) throws Exception {
        return get(List.of(new GateFilter(gate), new HandlerFilter()), target, bearer);
    }

    /** The first of the filters is between those of the test, and the others after them. */
    private HttpResponse<String> get(List<Filter> filters, String target, Optional<String> bearer) throws Exception {
        Server server = new Server();
        ServerConnector connector = new ServerConnector(server);
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        ServletContextHandler context = new ServletContextHandler("/");
        context.addFilter(new FilterHolder(before), "/*", EnumSet.of(DispatcherType.REQUEST));
        List<Filter> inner = new ArrayList<>(filters);
        if (!inner.isEmpty()) {
            context.addFilter(new FilterHolder(inner.remove(0)), "/*", EnumSet.allOf(DispatcherType.class));
        }
        context.addFilter(new FilterHolder(inside), "/*", EnumSet.of(DispatcherType.REQUEST));
        inner.forEach(filter -> context.addFilter(new FilterHolder(filter), "/*", EnumSet.allOf(DispatcherType.class)));
        for (String path : paths) {
            ServletHolder echo = new ServletHolder(new Echo());
            echo.setAsyncSupported(true);
            context.addServlet(echo, path);
        }
        server.setHandler(context);
        server.start();
        try {
            URI url = URI.create("http://127.0.0.1:" + connector.getLocalPort() + target);
            HttpRequest.Builder request = HttpRequest.newBuilder(url);
            bearer.ifPresent(value -> request.header("Authorization", value));
            return CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofString());
        } finally {
            server.stop();
        }
    }

    @Test
    void asManyFiltersAtTheEndCompareTheSame() throws Exception {
        try (TestIssuer issuer = new TestIssuer();
                Gate gate = Gate.of(new Handle(Engine.external()), issuer.tokens())) {
            Optional<String> bearer = Optional.of(issuer.bearer(TokenKind.USER, "read:orbs"));
            for (String template : List.of(ORBS, "/elsewhere")) {
                Filter dispatcher = (request, response, chain) -> {
                    if (GateFilter.agrees((HttpServletRequest) request, (HttpServletResponse) response, template)) {
                        chain.doFilter(request, response);
                    }
                };
                Filter first = new GateFilter(gate, request -> BonusOrbs.REFUSE);
                List<Filter> filters = List.of(first, new HandlerFilter(), new HandlerFilter(), dispatcher);
                assertEquals(template.equals(ORBS) ? 200 : 404, get(filters, ORBS, bearer).statusCode());
            }
        }
    }

    /** A gate that allows all but `/inside`, and says what it was asked. */
    private static Guard fake(List<GateRequest> requests) {
        return request -> {
            requests.add(request);
            Reason reason = request.target().startsWith("/inside") ? Reason.SCOPE_MISSING : Reason.SCOPE_HELD;
            return Answer.of(reason, BearerToken.of(TokenKind.USER, ""));
        };
    }

    @Test
    void onlyAnAllowedRequestIsReadForBonusOrbs() throws Exception {
        List<GateRequest> requests = new ArrayList<>();
        List<String> read = new ArrayList<>();
        for (String target : List.of("/inside", "/a")) {
            for (BonusOrbs bonus : BonusOrbs.values()) {
                Filter filter = new GateFilter(fake(requests), request -> {
                    read.add(request.getRequestURI());
                    return bonus;
                });
                get(List.of(filter), target, Optional.empty());
            }
        }
        assertEquals(List.of("/a", "/a", "/a"), read);
        assertEquals(List.of(BonusOrbs.ALLOW), requests.stream().map(GateRequest::bonus).filter(BonusOrbs.ALLOW::equals).toList());
        assertEquals(7, requests.size());
    }

    @Test
    void whatTheServiceDispatchesIsItsOwn() throws Exception {
        for (String how : List.of("forward", "async")) {
            seen.clear();
            List<GateRequest> requests = new ArrayList<>();
            assertEquals(200, get(fake(requests), "/a?" + how, Optional.empty()).statusCode());
            assertEquals(how.toUpperCase() + " /inside nobody", seen.get(1));
            assertEquals(1, requests.size());
        }
    }

    @Test
    void aForwardBeforeTheGateIsDenied() throws Exception {
        before = (request, response, chain) -> request.getRequestDispatcher("/inside").forward(request, response);
        HttpResponse<String> denied = get(fake(new ArrayList<>()), "/before", Optional.empty());
        assertEquals(403, denied.statusCode());
        assertEquals(Optional.of("no-store"), denied.headers().firstValue("Cache-Control"));
        assertEquals(403, get(List.of(new GateFilter(fake(new ArrayList<>()))), "/before", Optional.empty()).statusCode());
        assertEquals(List.of(), seen);
    }

    /** As a filter does that obeys a header or a parameter. */
    private static Filter rewriting(String method, String path, String context) {
        return (request, response, chain) -> chain.doFilter(new HttpServletRequestWrapper((HttpServletRequest) request) {
            @Override
            public String getMethod() {
                return method;
            }

            @Override
            public String getRequestURI() {
                return path;
            }

            @Override
            public String getContextPath() {
                return context;
            }
        }, response);
    }

    @Test
    void aFilterBeforeTheGateDoesNotChangeWhatItDecides() throws Exception {
        before = rewriting("GET", "/outside", "");
        List<GateRequest> requests = new ArrayList<>();
        HttpResponse<String> denied = get(fake(requests), "/inside", Optional.empty());
        assertEquals(403, denied.statusCode());
        assertEquals("GET /inside", requests.get(0).toString());
        HttpResponse<String> misrouted = get(fake(requests), "/other", Optional.empty());
        assertEquals(404, misrouted.statusCode());
        for (HttpResponse<String> kept : List.of(denied, misrouted)) {
            assertEquals(Optional.of("no-store"), kept.headers().firstValue("Cache-Control"));
        }
        assertEquals(List.of(), seen);
    }

    @Test
    void aFilterInsideTheGateDoesNotChooseAnotherHandler() throws Exception {
        List<Filter> rewrites = List.of(
                rewriting("DELETE", "/a", ""),
                rewriting("GET", "/b", ""),
                rewriting("GET", "/p/b", "/p"),
                (request, response, chain) -> request.getRequestDispatcher("/b").forward(request, response),
                (request, response, chain) -> request.startAsync().dispatch("/b"));
        for (Filter rewrite : rewrites) {
            inside = rewrite;
            List<GateRequest> requests = new ArrayList<>();
            assertEquals(404, get(fake(requests), "/a", Optional.empty()).statusCode());
            assertEquals(List.of(Optional.empty(), Optional.of("")), requests.stream().map(GateRequest::matched).toList());
        }
        // The response is the filter's own, and gets nothing of the servlet.
        inside = (request, response, chain) -> request.getRequestDispatcher("/b").include(request, response);
        assertEquals("", get(fake(new ArrayList<>()), "/a", Optional.empty()).body());
        assertEquals(List.of(), seen);
        for (boolean isServletPath : List.of(true, false)) {
            inside = (request, response, chain) -> chain.doFilter(mapped((HttpServletRequest) request, isServletPath), response);
            assertEquals(404, get(fake(new ArrayList<>()), "/a", Optional.empty()).statusCode());
        }
        assertEquals(List.of(), seen);
        inside = rewriting("GET", "/p/a", "/p"); // The path below the context is the decided one.
        assertEquals(200, get(fake(new ArrayList<>()), "/a", Optional.empty()).statusCode());
    }

    /** With another of the two paths by which routers of servlets route, too. */
    private static HttpServletRequest mapped(HttpServletRequest request, boolean isServletPath) {
        return new HttpServletRequestWrapper(request) {
            @Override
            public String getServletPath() {
                return isServletPath ? "/b" : super.getServletPath();
            }

            @Override
            public String getPathInfo() {
                return isServletPath ? super.getPathInfo() : "/b";
            }
        };
    }

    @Test
    void aServletThatThePolicyLacksIsNotReached() throws Exception {
        String policy = """
                orbgate: 1
                apis:
                  a:
                    base_path: ""
                    scopes:
                      read:orders: { orbs: false, routes: ["GET /orders/{id}", "GET /orders/{id}/items", GET /orders/all, GET /a.jsp, GET /] }
                """;
        paths = List.of("/orders/*", "/orders/export", "/orders/exports/*", "/orders/all", "*.jsp", "");
        try (TestIssuer issuer = new TestIssuer();
                Gate gate = Gate.builder(new Handle(Engine.fromYaml(policy)), issuer.tokens()).publicRoutes(List.of("GET /docs/{page}")).build()) {
            Optional<String> bearer = Optional.of(issuer.bearer(TokenKind.USER, "read:orders"));
            Map<String, Integer> statuses = Map.of(
                    "/orders/7", 200, "/orders/export", 404, "/orders/7/items", 200, "/orders/exports/items", 404, "/orders/all", 200,
                    "/orders/7.jsp", 200, "/a.jsp", 200, "/", 200, "/docs/a.jsp", 404);
            for (Map.Entry<String, Integer> each : statuses.entrySet()) {
                assertEquals(each.getValue(), get(gate, each.getKey(), bearer).statusCode(), each.getKey());
            }
            assertEquals(6, seen.size());
        }
    }

    @Test
    void aServletOfAPathWithAFinalSlashIsReached() throws Exception {
        String policy = """
                orbgate: 1
                trailing_slash: always
                apis:
                  a:
                    base_path: ""
                    scopes:
                      read:orders: { orbs: false, routes: ["GET /orders/{id}", GET /orders/all] }
                """;
        paths = List.of("/orders/*", "/orders/all/", "/orders/export/");
        try (TestIssuer issuer = new TestIssuer();
                Gate gate = Gate.builder(new Handle(Engine.fromYaml(policy)), issuer.tokens()).build()) {
            Optional<String> bearer = Optional.of(issuer.bearer(TokenKind.USER, "read:orders"));
            Map<String, Integer> statuses = Map.of("/orders/7/", 200, "/orders/all/", 200, "/orders/export/", 404, "/orders/7", 404);
            for (Map.Entry<String, Integer> each : statuses.entrySet()) {
                assertEquals(each.getValue(), get(gate, each.getKey(), bearer).statusCode(), each.getKey());
            }
        }
    }

    @Test
    void aPageForErrorsIsTheServicesOwn() throws Exception {
        inside = (request, response, chain) -> ((HttpServletResponse) response).sendError(418);
        HttpResponse<String> error = get(fake(new ArrayList<>()), "/a", Optional.empty());
        assertEquals(418, error.statusCode());
        assertTrue(error.body().contains("418"), error.body());
    }

    @Test
    void servletsThatTheGateDoesNotSeeAreReported() throws Exception {
        Map<String, List<String>> unseen = Map.of(
                "/*", List.of(), "/api/*", List.of("/", "/apis", "/me"), "/me", List.of("/", "/api/v1/*", "/apis"),
                "servlet /apis", List.of("/", "/api/v1/*", "/me"));
        for (Map.Entry<String, List<String>> each : unseen.entrySet()) {
            List<String> messages = new ArrayList<>();
            Logger logger = Logger.getLogger(GateFilter.class.getName());
            Handler collects = new StreamHandler() {
                @Override
                public void publish(LogRecord line) {
                    messages.add(line.getMessage());
                }
            };
            logger.addHandler(collects);
            Server server = new Server();
            ServletContextHandler context = new ServletContextHandler("/");
            FilterHolder filter = new FilterHolder(new GateFilter(fake(new ArrayList<>())));
            if (each.getKey().startsWith("/")) {
                context.addFilter(filter, each.getKey(), null);
            } else {
                FilterMapping byName = new FilterMapping();
                byName.setFilterName(filter.getName());
                byName.setServletName(each.getKey());
                context.getServletHandler().addFilter(filter, byName);
            }
            for (String path : List.of("/", "/api/v1/*", "/apis", "/me")) {
                context.addServlet(new ServletHolder("servlet " + path, new Echo()), path);
            }
            server.setHandler(context);
            server.start();
            server.stop();
            logger.removeHandler(collects);
            assertEquals(each.getValue(), messages.stream().map(line -> line.split("`")[1]).sorted().toList());
        }
    }

    @Test
    void aHandlerThatNoGateProtectsFails() throws Exception {
        assertEquals(200, get(fake(new ArrayList<>()), "/a?allowed", Optional.empty()).statusCode());
        assertEquals(500, get(List.of(), "/a?allowed", Optional.empty()).statusCode());
        assertEquals(403, get(List.of(new HandlerFilter()), "/a?allowed", Optional.empty()).statusCode());
        inside = rewriting("DELETE", "/a", "");
        assertEquals(500, get(List.of(new GateFilter(fake(new ArrayList<>()))), "/a?allowed", Optional.empty()).statusCode());
    }
}
