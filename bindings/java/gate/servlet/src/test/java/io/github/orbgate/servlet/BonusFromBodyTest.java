package io.github.orbgate.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.orbgate.Answer;
import io.github.orbgate.BearerToken;
import io.github.orbgate.GateRequest;
import io.github.orbgate.Guard;
import io.github.orbgate.Reason;
import io.github.orbgate.TokenKind;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.eclipse.jetty.ee10.servlet.FilterHolder;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The filter reads the bodies of allowed requests, and the service gets the same bytes. */
class BonusFromBodyTest {
    private static final String ALLOWS = "{\"allowBonusOrbsUse\": true}";

    private final Server server = new Server();
    private final List<GateRequest> requests = new ArrayList<>();
    private int port;

    /** Answers with what it reads. */
    private static final class Echo extends HttpServlet {
        private static final long serialVersionUID = 1;

        @Override
        protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException {
            StringWriter read = new StringWriter();
            switch (request.getRequestURI()) {
                case "/reader" -> request.getReader().transferTo(read);
                case "/form" -> read.write(request.getParameter("a"));
                default -> read.write(new String(request.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
            }
            response.setCharacterEncoding("UTF-8");
            response.getWriter().print(read);
        }
    }

    @BeforeEach
    void start() throws Exception {
        Guard fake = request -> {
            requests.add(request);
            Reason reason = request.target().equals("/denied") ? Reason.SCOPE_MISSING : Reason.SCOPE_HELD;
            return Answer.of(reason, BearerToken.of(TokenKind.USER, ""));
        };
        ServerConnector connector = new ServerConnector(server);
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        ServletContextHandler context = new ServletContextHandler("/");
        context.addFilter(new FilterHolder(GateFilter.bonusFromBody(fake, 100)), "/*", EnumSet.allOf(DispatcherType.class));
        context.addFilter(new FilterHolder(new HandlerFilter()), "/*", EnumSet.allOf(DispatcherType.class));
        context.addServlet(new ServletHolder(new Echo()), "/*");
        server.setHandler(context);
        server.start();
        port = connector.getLocalPort();
    }

    @AfterEach
    void stop() throws Exception {
        server.stop();
    }

    /** The body that the service read, and whether the gate was asked for bonus orbs. */
    private String post(String path, String type, HttpRequest.BodyPublisher body) throws Exception {
        requests.clear();
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .header("Content-Type", type)
                .POST(body)
                .build();
        HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        String read = client.send(request, HttpResponse.BodyHandlers.ofString()).body();
        return read + requests.stream().map(GateRequest::bonus).toList();
    }

    @Test
    void theServiceGetsTheBytesThatTheGateHasRead() throws Exception {
        String longest = ALLOWS + " ".repeat(100 - ALLOWS.length());
        String json = "application/json; charset=utf-8";
        for (String path : List.of("/stream", "/reader")) {
            for (String body : List.of("", "{}", "{\"ä\": 1}", longest, longest + " ", "x".repeat(100_000))) {
                String bonus = body.equals(longest) ? "[UNREAD, ALLOW]" : "[UNREAD]";
                byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
                assertEquals(body + bonus, post(path, json, HttpRequest.BodyPublishers.ofByteArray(bytes)));
                // In chunks, without a length.
                assertEquals(body + bonus, post(path, json, HttpRequest.BodyPublishers.ofByteArrays(List.of(bytes))));
            }
        }
        assertEquals("1[UNREAD]", post("/form", "application/x-www-form-urlencoded", HttpRequest.BodyPublishers.ofString("a=1&b=2")));
        assertEquals("[UNREAD]", post("/denied", json, HttpRequest.BodyPublishers.ofString(ALLOWS)));
    }
}
