package io.github.orbgate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.github.orbgate.testing.TestIssuer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Opaque tokens: an endpoint on this machine is asked about them. */
class OpaqueTest {
    private static final String ORBS = "/api/v1/external/orbs";
    /** {@code my%20api:s3cr3t}. */
    private static final String RIGHT = "Basic bXklMjBhcGk6czNjcjN0";

    private volatile String right = RIGHT;

    @TempDir
    Path folder;

    private final Map<String, String> scopes =
            new ConcurrentHashMap<>(Map.of("good", "read:orbs", "poor", "read:account", "ory_at_good", "read:orbs"));
    private final List<String> asked = Collections.synchronizedList(new ArrayList<>());
    private volatile int status = 200;
    private volatile int padding;
    private volatile long pauseMs;
    private HttpServer endpoint;
    private ExecutorService threads;
    private Handle policy;

    @BeforeEach
    void start() throws IOException {
        endpoint = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        endpoint.createContext("/", this::answer);
        threads = Executors.newCachedThreadPool();
        endpoint.setExecutor(threads);
        endpoint.start();
        Files.writeString(folder.resolve("secret"), "s3cr3t\n");
        policy = new Handle(Engine.external());
    }

    @AfterEach
    void stop() {
        endpoint.stop(0);
        threads.shutdownNow();
    }

    private void answer(HttpExchange exchange) throws IOException {
        String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.US_ASCII);
        assertEquals("POST /introspect", exchange.getRequestMethod() + " " + exchange.getRequestURI().getPath());
        assertEquals("application/x-www-form-urlencoded", exchange.getRequestHeaders().getFirst("Content-Type"));
        assertTrue(body.startsWith("token=") && body.endsWith("&token_type_hint=access_token"), body);
        String token = URLDecoder.decode(body.substring(6, body.indexOf('&')), StandardCharsets.UTF_8);
        asked.add(token);
        try {
            Thread.sleep(pauseMs);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
        boolean isRight = right.equals(exchange.getRequestHeaders().getFirst("Authorization"));
        String scope = scopes.get(token);
        String claims = "\"aud\":\"https://service.test\",\"sub\":\"user-7\",\"exp\":" + (Instant.now().getEpochSecond() + 600);
        String says = scope == null
                ? "{\"active\":false}"
                : "{\"active\":true,\"scope\":\"" + scope + "\"," + claims + ",\"padding\":\"" + "x".repeat(padding) + "\"}";
        exchange.getResponseHeaders().set("Location", "/elsewhere");
        exchange.sendResponseHeaders(isRight ? status : 401, says.length());
        exchange.getResponseBody().write(says.getBytes(StandardCharsets.US_ASCII));
        exchange.close();
    }

    private String issuer(String name, String opaque) {
        return "  - issuer: https://" + name + ".example\n    audience: https://service.test\n    kind: user\n    opaque: { endpoint: 'http://127.0.0.1:"
                + endpoint.getAddress().getPort() + "/introspect', client_id: my api, max_cache_seconds: 1, " + opaque + " }\n";
    }

    private Gate gate() {
        return Gate.of(policy, "orbgate_token: 1\nissuers:\n" + issuer("id", secret("secret")));
    }

    private String secret(String name) {
        return "client_secret_file: '" + folder.resolve(name) + "'";
    }

    private static Answer ask(Gate gate, String token) {
        return gate.ask(new GateRequest("GET", ORBS, Map.of("Authorization", List.of("Bearer " + token))));
    }

    @Test
    void theIssuerOfAnOpaqueTokenIsAskedAboutIt() throws Exception {
        try (Gate gate = gate()) {
            Answer allowed = ask(gate, "good");
            assertEquals(Optional.of("user-7"), allowed.token().orElseThrow().subject());
            assertTrue(allowed.isAllow() && ask(gate, "good").isAllow());
            assertEquals(403, ask(gate, "poor").httpStatus());
            Answer denied = ask(gate, "other");
            assertEquals(401, denied.httpStatus());
            assertEquals(Optional.of("inactive"), denied.refused());
            assertEquals(List.of("good", "poor", "other"), asked);
            // A revocation is seen within the second that is configured.
            scopes.remove("good");
            Thread.sleep(1000);
            assertEquals(Optional.of("inactive"), ask(gate, "good").refused());
        }
    }

    @Test
    void anEndpointThatFailsIsA401() throws Exception {
        try (Gate gate = gate()) {
            status = 503;
            for (int at = 0; at < 6; at++) {
                Answer answer = ask(gate, "t" + at);
                assertEquals(401, answer.httpStatus());
                assertEquals(Optional.of("unanswered"), answer.refused());
            }
            assertEquals(4, asked.size(), "it rests after four failures");
            IssuerKeys state = gate.keys().get(0);
            assertTrue(state.isOpaque() && state.failure().orElseThrow().contains("503"), state.toString());
            status = 200;
            Thread.sleep(1000);
            assertTrue(ask(gate, "good").isAllow());
            assertEquals(Optional.empty(), gate.keys().get(0).failure());
            // Neither is a redirect followed, nor a huge answer read.
            status = 307;
            assertEquals(Optional.of("unanswered"), ask(gate, "poor").refused());
            status = 200;
            padding = 300_000;
            assertEquals(Optional.of("unanswered"), ask(gate, "ory_at_good").refused());
        }
    }

    @Test
    void secretsAreReadAgainWithThePolicy() throws Exception {
        Path file = folder.resolve("policy.yaml");
        Files.writeString(file, Files.readString(Path.of("../../policy/external.yaml")) + "...\n");
        try (Gate gate = gate()) {
            assertTrue(ask(gate, "good").isAllow());
            right = "Basic bXklMjBhcGk6YW5vdGhlcg=="; // my%20api:another
            assertEquals(401, ask(gate, "poor").httpStatus());
            Files.writeString(folder.resolve("secret"), "another");
            gate.reload(file);
            assertTrue(ask(gate, "good").isAllow());
            assertEquals(List.of("good", "poor", "good"), asked, "answers to another secret are forgotten");
            Files.delete(folder.resolve("secret"));
            String said = assertThrows(ConfigurationException.class, () -> gate.reload(file)).getMessage();
            assertTrue(said.contains("client_secret_file"), said);
            assertEquals(403, ask(gate, "poor").httpStatus());
        }
        Files.writeString(folder.resolve("secret"), "another");
        policy.store(Engine.fromYaml("orbgate: 1\napis: {a: {scopes: {}}}\n"));
        String tokens = "orbgate_token: 1\nissuers:\n" + issuer("id", secret("secret"));
        try (Gate strict = Gate.builder(policy, tokens).refuseWider().build()) {
            Files.delete(folder.resolve("secret"));
            String said = assertThrows(OrbgateException.class, () -> strict.reload(file)).getMessage();
            assertTrue(said.contains("allows more"), "the policy is checked before the secrets are read: " + said);
        }
    }

    @Test
    void withoutItsSecretNoGateStarts() throws Exception {
        String none = "orbgate_token: 1\nissuers:\n" + issuer("id", secret("none"));
        assertTrue(assertThrows(ConfigurationException.class, () -> Gate.of(policy, none)).getMessage().contains("client_secret_file"));
        String variable = "orbgate_token: 1\nissuers:\n" + issuer("id", "client_secret_env: ORBGATE_NO_SUCH_VARIABLE");
        assertTrue(assertThrows(ConfigurationException.class, () -> Gate.of(policy, variable)).getMessage().contains("ORBGATE_NO_SUCH_VARIABLE"));
        Files.writeString(folder.resolve("secret"), "wrong");
        try (Gate gate = gate()) {
            assertEquals(Optional.of("unanswered"), ask(gate, "good").refused());
        }
    }

    @Test
    void aJwtAndOpaqueTokensOfTwoIssuersSideBySide() throws Exception {
        try (TestIssuer signer = new TestIssuer();
                Gate gate = Gate.of(
                        policy,
                        signer.tokens() + issuer("id", secret("secret") + ", prefix: ory_at_") + issuer("rest", secret("secret")))) {
            Answer jwt = gate.ask(new GateRequest("GET", ORBS, Map.of("Authorization", List.of(signer.bearer(TokenKind.USER, "read:orbs")))));
            assertTrue(jwt.isAllow());
            assertEquals("https://id.example", ask(gate, "ory_at_good").token().orElseThrow().issuer());
            assertEquals("https://rest.example", ask(gate, "good").token().orElseThrow().issuer());
            assertEquals(List.of("ory_at_good", "good"), asked);
            assertEquals(List.of(false, true, true), gate.warm().stream().map(IssuerKeys::isOpaque).toList());
        }
    }

    @Test
    void manyTokensGetTheirTurn() throws Exception {
        IntStream.range(0, 80).forEach(at -> scopes.put("many-" + at, "read:orbs"));
        pauseMs = 50;
        try (Gate gate = gate()) {
            List<Callable<Boolean>> calls = IntStream.range(0, 80)
                    .<Callable<Boolean>>mapToObj(at -> () -> {
                        Instant start = Instant.now();
                        while (!ask(gate, "many-" + at).isAllow()) {
                            // On a busy machine, the second for which a thread waits was over, in whole milliseconds.
                            assertTrue(Duration.between(start, Instant.now()).toMillis() >= 990);
                            Thread.sleep(10);
                        }
                        return true;
                    })
                    .toList();
            for (Future<Boolean> call : threads.invokeAll(calls)) {
                assertTrue(call.get());
            }
        }
    }

    @Test
    void nothingShowsASecretOrAToken() throws Exception {
        StringBuffer log = new StringBuffer();
        Handler handler = new Handler() {
            @Override
            public void publish(LogRecord record) {
                log.append(record.getMessage()).append(record.getThrown()).append('\n');
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        Logger logger = Logger.getLogger(Gate.class.getName());
        logger.addHandler(handler);
        List<String> audit = new ArrayList<>();
        String tokens = "orbgate_token: 1\nissuers:\n" + issuer("id", secret("secret"));
        try (Gate gate = Gate.builder(policy, tokens).debug().audit(audit::add).build()) {
            endpoint.stop(0); // it cannot be reached
            Answer answer = ask(gate, "opaque-token");
            assertEquals(Optional.of("unanswered"), answer.refused());
            assertTrue(log.toString().contains("/introspect "), log.toString());
            String shown = log + answer.toString() + audit + gate.keys();
            assertFalse(shown.contains("opaque-token") || shown.contains("s3cr") || shown.contains(RIGHT.substring(6)), shown);
        } finally {
            logger.removeHandler(handler);
        }
    }
}
