package io.github.orbgate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
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

/** Opaque tokens that wait for their turn, and are never shown. What an endpoint is asked, the exchanges of every language show. */
class OpaqueTest {
    private static final String ORBS = "/api/v1/external/orbs";
    /** {@code my%20api:s3cr3t}. */
    private static final String CREDENTIALS = "bXklMjBhcGk6czNjcjN0";

    @TempDir
    Path folder;

    private HttpServer endpoint;
    private ExecutorService threads;
    private Handle policy;

    @BeforeEach
    void start() throws IOException {
        endpoint = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        endpoint.createContext("/", OpaqueTest::answer);
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

    private static void answer(HttpExchange exchange) throws IOException {
        exchange.getRequestBody().readAllBytes();
        try {
            Thread.sleep(50);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
        byte[] says = ("{\"active\":true,\"scope\":\"read:orbs\",\"aud\":\"https://service.test\",\"sub\":\"user-7\",\"exp\":"
                + (Instant.now().getEpochSecond() + 600) + "}").getBytes(StandardCharsets.US_ASCII);
        exchange.sendResponseHeaders(200, says.length);
        exchange.getResponseBody().write(says);
        exchange.close();
    }

    private String tokens() {
        return "orbgate_token: 1\nissuers:\n  - issuer: https://id.example\n    audience: https://service.test\n    kind: user\n"
                + "    opaque: { endpoint: 'http://127.0.0.1:" + endpoint.getAddress().getPort()
                + "/introspect', client_id: my api, client_secret_file: '" + folder.resolve("secret") + "' }\n";
    }

    private static Answer ask(Gate gate, String token) {
        return gate.ask(new GateRequest("GET", ORBS, Map.of("Authorization", List.of("Bearer " + token))));
    }

    @Test
    void manyTokensGetTheirTurn() throws Exception {
        try (Gate gate = Gate.of(policy, tokens())) {
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
            assertEquals(List.of(true), gate.warm().stream().map(IssuerKeys::isOpaque).toList());
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
        try (Gate gate = Gate.builder(policy, tokens()).debug().audit(audit::add).build()) {
            endpoint.stop(0); // it cannot be reached
            Answer answer = ask(gate, "opaque-token");
            assertEquals(Optional.of("unanswered"), answer.refused());
            assertTrue(log.toString().contains("/introspect "), log.toString());
            String shown = log + answer.toString() + audit + gate.keys();
            assertFalse(shown.contains("opaque-token") || shown.contains("s3cr") || shown.contains(CREDENTIALS), shown);
        } finally {
            logger.removeHandler(handler);
        }
    }
}
