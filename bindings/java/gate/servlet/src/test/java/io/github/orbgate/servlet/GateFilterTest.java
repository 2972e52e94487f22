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
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
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
import java.util.Optional;
import org.eclipse.jetty.ee10.servlet.FilterHolder;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.junit.jupiter.api.Test;

/** The filter in a container, registered for every dispatch; what it must answer to requests is in policy/cases/gate. */
class GateFilterTest {
    private static final String ORBS = "/api/v1/external/orbs";

    /** What the servlet saw, a line for each dispatch. */
    private final List<String> seen = Collections.synchronizedList(new ArrayList<>());

    /** Says what it sees; with a name in its query, it begins another dispatch. */
    private final class Echo extends HttpServlet {
        private static final long serialVersionUID = 1;

        @Override
        protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException, ServletException {
            String subject = GateFilter.call(request).flatMap(call -> call.token().subject()).orElse("nobody");
            seen.add(request.getDispatcherType() + " " + request.getRequestURI() + " " + subject);
            if (request.getDispatcherType() != DispatcherType.REQUEST || request.getQueryString() == null) {
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
        Server server = new Server();
        ServerConnector connector = new ServerConnector(server);
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        ServletContextHandler context = new ServletContextHandler("/");
        // What comes before the gate forwards a path that nobody has decided.
        context.addFilter(new FilterHolder((request, response, chain) -> {
            if (((HttpServletRequest) request).getRequestURI().equals("/before")) {
                request.getRequestDispatcher("/inside").forward(request, response);
            } else {
                chain.doFilter(request, response);
            }
        }), "/*", EnumSet.of(DispatcherType.REQUEST));
        context.addFilter(new FilterHolder(new GateFilter(gate, request -> BonusOrbs.ALLOW, request -> Optional.empty())),
                "/*", EnumSet.allOf(DispatcherType.class));
        ServletHolder echo = new ServletHolder(new Echo());
        echo.setAsyncSupported(true);
        context.addServlet(echo, "/*");
        server.setHandler(context);
        server.start();
        try {
            URI url = URI.create("http://127.0.0.1:" + connector.getLocalPort() + target);
            HttpRequest.Builder request = HttpRequest.newBuilder(url);
            bearer.ifPresent(value -> request.header("Authorization", value));
            return HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());
        } finally {
            server.stop();
        }
    }

    @Test
    void realTokensAreVerified() throws Exception {
        try (TestIssuer issuer = new TestIssuer();
                Gate gate = Gate.of(new Handle(Engine.external()), issuer.tokens())) {
            assertEquals(200, get(gate, ORBS, Optional.of(issuer.bearer(TokenKind.USER, "read:orbs"))).statusCode());
            assertEquals(List.of("REQUEST " + ORBS + " subject"), seen);
            HttpResponse<String> denied = get(gate, ORBS, Optional.of(issuer.bearer(TokenKind.USER, "read:store")));
            assertEquals(403, denied.statusCode());
            assertEquals("", denied.body());
            assertEquals(Optional.of("Bearer"), denied.headers().firstValue("WWW-Authenticate"));
            assertEquals(Optional.empty(), denied.headers().firstValue("Content-Type"));
            assertEquals(401, get(gate, ORBS, Optional.empty()).statusCode());
            assertEquals(400, get(gate, ORBS + ";a=b", Optional.empty()).statusCode());
            assertEquals(1, seen.size());
        }
    }

    /** A gate that allows all but `/inside`, and says what it was asked. */
    private static Guard fake(List<GateRequest> asked) {
        return request -> {
            asked.add(request);
            Reason reason = request.target().startsWith("/inside") ? Reason.SCOPE_MISSING : Reason.SCOPE_HELD;
            return Answer.of(reason, BearerToken.of(TokenKind.USER, ""));
        };
    }

    @Test
    void theTargetIsTheOneOfTheWire() throws Exception {
        List<GateRequest> asked = new ArrayList<>();
        get(fake(asked), "/a%20b;c=d/e?f=%2e&;", Optional.of("Bearer x"));
        assertEquals("/a%20b;c=d/e?f=%2e&;", asked.get(0).target());
        assertEquals(List.of("Bearer x"), asked.get(0).authorization());
        assertTrue(asked.get(0).headerNames().contains("Authorization"));
        assertEquals(BonusOrbs.ALLOW, asked.get(0).bonus());
    }

    @Test
    void whatTheServiceDispatchesIsItsOwn() throws Exception {
        for (String how : List.of("forward", "async")) {
            seen.clear();
            List<GateRequest> asked = new ArrayList<>();
            assertEquals(200, get(fake(asked), "/a?" + how, Optional.empty()).statusCode());
            assertEquals(how.toUpperCase() + " /inside nobody", seen.get(1));
            assertEquals(1, asked.size());
        }
    }

    @Test
    void whatNobodyHasDecidedIsDenied() throws Exception {
        HttpResponse<String> denied = get(fake(new ArrayList<>()), "/before", Optional.empty());
        assertEquals(403, denied.statusCode());
        assertEquals(List.of(), seen);
    }
}
