package io.github.orbgate;

import static io.github.orbgate.GateTest.plain;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.Filter;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.github.orbgate.httpserver.GateFilter;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;

/** The gate around the JDK's server. */
class HttpServerTest extends WithIssuer {
    private final Map<String, Integer> counts = new ConcurrentHashMap<>();
    private final Gate gate = Gate.builder(new Handle(Engine.external()), issuer.tokens())
            .count((counter, labels) -> counts.merge(counter, 1, Integer::sum))
            .build();

    /** A handler that shows its call. */
    private static void show(HttpExchange exchange) throws IOException {
        byte[] text = GateFilter.allowed(exchange).toString().getBytes();
        exchange.sendResponseHeaders(200, text.length);
        exchange.getResponseBody().write(text);
        exchange.close();
    }

    @Test
    void aProtectedServerProtectsEveryContext() throws Exception {
        HttpServer server = new GateFilter(gate).protect(plain());
        server.createContext("/", HttpServerTest::show);
        server.createContext("/api/v1/external/account").setHandler(HttpServerTest::show);
        server.start();
        try {
            assertEquals(200, send(server, ORBS, reader).statusCode());
            assertEquals(403, send(server, "/api/v1/external/account", reader).statusCode());
            assertEquals(401, send(server, "/", "none").statusCode());
            server.removeContext("/");
            server.createContext("/", HttpServerTest::show);
            assertEquals(401, send(server, "/", "none").statusCode());
        } finally {
            server.stop(0);
        }
    }

    @Test
    void aHandlerWhoseFilterIsGoneServesNothing() throws Exception {
        // One thread serves all requests, and knows nothing of the request before.
        HttpServer server = new GateFilter(gate).protect(plain());
        List<Filter> filters = server.createContext("/", HttpServerTest::show).getFilters();
        server.start();
        try {
            assertEquals(200, send(server, ORBS, reader).statusCode());
            filters.clear();
            assertEquals(403, send(server, ORBS, "none").statusCode());
            assertEquals(403, send(server, ORBS, reader).statusCode());
        } finally {
            server.stop(0);
        }
    }

    @Test
    void aFilterOfTheJdksServerAllowsBonusOrbs() throws Exception {
        for (BonusOrbs bonus : BonusOrbs.values()) {
            HttpServer server = new GateFilter(gate, exchange -> bonus).protect(plain());
            String run = "/api/v1/external/voxies/prompt/run";
            server.createContext("/", exchange -> {
                Charge charge = GateFilter.allowed(exchange).decision().charge().orElseThrow();
                exchange.sendResponseHeaders(charge.bonusAllowed() ? 200 : 202, -1);
            });
            server.start();
            try {
                URI url = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + run);
                HttpRequest request = HttpRequest.newBuilder(url)
                        .POST(HttpRequest.BodyPublishers.noBody())
                        .header("Authorization", issuer.bearer(TokenKind.USER, "write:voxies"))
                        .build();
                HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
                int status = client.send(request, HttpResponse.BodyHandlers.ofString()).statusCode();
                assertEquals(bonus == BonusOrbs.ALLOW ? 200 : 202, status);
            } finally {
                server.stop(0);
            }
        }
        assertEquals(BonusOrbs.values().length, counts.get("orbgate_decisions_total"), "a request counts once");
    }

    @Test
    void aBodyIsReadForBonusOrbsAndGivenToTheHandler() throws Exception {
        HttpServer server = GateFilter.bonusFromBody(gate, 100).protect(plain());
        server.createContext("/", exchange -> {
            String flag = GateFilter.allowed(exchange).decision().charge().orElseThrow().bonusAllowed() + " ";
            byte[] answer = (flag + new String(exchange.getRequestBody().readAllBytes())).getBytes();
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
        try {
            URI url = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/api/v1/external/voxies/prompt/run");
            String allows = "{\"allowBonusOrbsUse\": true}";
            String longest = allows + " ".repeat(100 - allows.length());
            for (String body : List.of("", "{}", "x".repeat(100_000), longest, longest + " ", allows + "x")) {
                HttpRequest request = HttpRequest.newBuilder(url)
                        .POST(HttpRequest.BodyPublishers.ofString(body))
                        .header("Authorization", issuer.bearer(TokenKind.USER, "write:voxies"))
                        .build();
                HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
                String answer = client.send(request, HttpResponse.BodyHandlers.ofString()).body();
                assertEquals(body.equals(longest) + " " + body, answer);
            }
        } finally {
            server.stop(0);
        }
    }

    /** Any way to read the rest gives the same bytes, and a failure comes where it was. */
    @Test
    void aPeekedBodyHasTheSameBytes() throws Exception {
        byte[] bytes = "{\"allowBonusOrbsUse\": true}".getBytes();
        InputStream fails = new InputStream() {
            @Override
            public int read() throws IOException {
                throw new IOException("gone");
            }
        };
        for (int limit : new int[] {0, 1, bytes.length - 1, bytes.length, Integer.MAX_VALUE}) {
            for (boolean isCut : new boolean[] {false, true}) {
                InputStream all = new ByteArrayInputStream(bytes);
                try (PeekedBody body = new PeekedBody(isCut ? new SequenceInputStream(all, fails) : all, limit)) {
                    assertEquals(limit >= bytes.length && !isCut, body.bonus() == BonusOrbs.ALLOW);
                    assertEquals('{', body.read());
                    assertEquals(1, body.skip(1));
                    byte[] rest = new byte[bytes.length];
                    int read = 2;
                    while (read < bytes.length) {
                        read += body.read(rest, read, bytes.length - read);
                    }
                    assertEquals("allowBonusOrbsUse\": true}", new String(rest, 2, bytes.length - 2));
                    assertTrue(body.isReadAgain());
                    if (isCut) {
                        assertThrows(IOException.class, body::read);
                    } else {
                        assertEquals(-1, body.read());
                    }
                }
            }
        }
    }

    @Test
    void aProtectedServerHasNoOtherFilterBeforeTheGate() throws Exception {
        HttpServer plain = plain();
        plain.createContext("/", HttpServerTest::show);
        assertThrows(IllegalStateException.class, () -> new GateFilter(gate).protect(plain));
        HttpServer server = new GateFilter(gate).protect(plain);
        plain.createContext("/open", HttpServerTest::show);
        assertThrows(IllegalStateException.class, () -> server.createContext("/open", HttpServerTest::show));
        List<Filter> filters = server.createContext("/api", HttpServerTest::show).getFilters();
        assertThrows(IllegalArgumentException.class, () -> server.createContext("/api", HttpServerTest::show));
        filters.add(0, new GateFilter(gate));
        IllegalStateException second = assertThrows(IllegalStateException.class, server::start);
        assertTrue(second.getMessage().contains("`/api`"), second.getMessage());
        filters.clear();
        assertThrows(IllegalStateException.class, server::start);
        plain.stop(0);
    }

    @Test
    void aFilterOfTheJdksServerDoesNotChooseAnotherHandler() throws Exception {
        HttpServer server = new GateFilter(gate).protect(plain());
        String[] seen = {"GET", ORBS};
        server.createContext("/", HttpServerTest::show).getFilters().add(new Filter() {
            @Override
            public void doFilter(HttpExchange exchange, Chain chain) throws IOException {
                chain.doFilter(new Rewritten(exchange, seen[0], URI.create(seen[1])));
            }

            @Override
            public String description() {
                return "rewrites";
            }
        });
        server.start();
        try {
            assertEquals(200, send(server, ORBS, reader).statusCode());
            seen[0] = "DELETE";
            assertEquals(404, send(server, ORBS, reader).statusCode());
            seen[0] = "GET";
            seen[1] = "/api/v1/external/account";
            assertEquals(404, send(server, ORBS, reader).statusCode());
            assertEquals(2, counts.get("orbgate_misrouted_total"));
        } finally {
            server.stop(0);
        }
    }

    @Test
    void aContextThatThePolicyLacksIsNotReached() throws Exception {
        String policy = """
                orbgate: 1
                apis:
                  a:
                    base_path: ""
                    scopes:
                      read:orbs: { orbs: false, routes: ["GET /orders/{id}", GET /orders/all, "GET /users/{id}"] }
                """;
        Gate orders = Gate.builder(new Handle(Engine.fromYaml(policy)), issuer.tokens())
                .publicRoutes(List.of("GET /docs/{page}"))
                .count((counter, labels) -> counts.merge(counter, 1, Integer::sum))
                .build();
        for (boolean isProtected : List.of(true, false)) {
            counts.clear();
            HttpServer plain = plain();
            HttpServer server = isProtected ? new GateFilter(orders).protect(plain) : plain;
            for (String path : List.of("/orders", "/orders/ex", "/orders/all", "/users/", "/docs/secret", "/docs")) {
                List<Filter> filters = server.createContext(path, HttpServerTest::show).getFilters();
                if (!isProtected) {
                    filters.add(new GateFilter(orders));
                }
            }
            server.start();
            try {
                for (String path : List.of("/orders/7", "/orders/all", "/users/7", "/docs/page")) {
                    assertEquals(200, send(server, path, reader).statusCode(), path);
                }
                for (String path : List.of("/orders/ex", "/docs/secret")) {
                    assertEquals(404, send(server, path, reader).statusCode(), path);
                }
                assertEquals(2, counts.get("orbgate_misrouted_total"));
            } finally {
                server.stop(0);
            }
        }
    }

    @Test
    void aContextWithAFinalSlashIsReached() throws Exception {
        String policy = """
                orbgate: 1
                trailing_slash: always
                apis:
                  a:
                    base_path: ""
                    scopes:
                      read:orbs: { orbs: false, routes: ["GET /orders/{id}", GET /orders/all] }
                """;
        Gate orders = Gate.builder(new Handle(Engine.fromYaml(policy)), issuer.tokens()).build();
        HttpServer server = new GateFilter(orders).protect(plain());
        List.of("/orders/", "/orders/all/").forEach(path -> server.createContext(path, HttpServerTest::show));
        server.start();
        try {
            for (String path : List.of("/orders/7/", "/orders/all/")) {
                assertEquals(200, send(server, path, reader).statusCode(), path);
            }
        } finally {
            server.stop(0);
        }
    }

    @Test
    void aHandlerThatNoGateProtectsFails() throws Exception {
        HttpServer server = plain();
        server.createContext("/", HttpServerTest::show);
        server.start();
        try {
            HttpResponse<String> failed = send(server, ORBS, reader);
            assertEquals(500, failed.statusCode());
            assertEquals("", failed.body());
        } finally {
            server.stop(0);
        }
    }

    private static HttpResponse<String> send(HttpServer server, String target, String bearer) throws Exception {
        URI url = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + target);
        HttpRequest request = HttpRequest.newBuilder(url).header("Authorization", bearer).build();
        return HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build().send(request, HttpResponse.BodyHandlers.ofString());
    }
}
