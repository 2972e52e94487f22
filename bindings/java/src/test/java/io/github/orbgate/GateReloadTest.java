package io.github.orbgate;

import static io.github.orbgate.GateTest.get;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a gate refuses to load, and how it explains a denial. */
class GateReloadTest extends WithIssuer {
    @Test
    void aWiderPolicyIsRefusedOnRequest(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("policy.yaml");
        Map<String, Integer> loads = new ConcurrentHashMap<>();
        Engine before = Engine.fromYaml(EngineTest.POLICY);
        Handle held = new Handle(before);
        try (Gate refusing = Gate.builder(held, issuer.tokens())
                        .refuseWider()
                        .count((name, labels) -> loads.merge(labels.getOrDefault("result", ""), 1, Integer::sum))
                        .build()) {
            Files.writeString(file, EngineTest.POLICY + "# the same\n...\n");
            refusing.reload(file);
            Files.writeString(file, EngineTest.POLICY.replace("orbgate: 1", "orbgate: 1\nheadings: [More]") + "...\n");
            refusing.reload(file);
            Files.copy(Path.of(System.getProperty("orbgate.cases")).resolve("../external.yaml"), file, StandardCopyOption.REPLACE_EXISTING);
            String message = assertThrows(OrbgateException.class, () -> refusing.reload(file)).getMessage();
            assertTrue(message.contains(file.toString()) && message.contains(" wider"), message);
            try (Engine active = held.load()) {
                assertFalse(active.digest().equals(Engine.external().digest()));
            }
            assertEquals(Map.of("loaded", 2, "wider", 1), loads);
        }
    }

    @Test
    void aFileIsFollowed(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("policy.yaml");
        BlockingQueue<String> results = new LinkedBlockingQueue<>();
        Handle held = new Handle(Engine.fromYaml(named("a")));
        try (Logged logged = new Logged();
                Gate gate = Gate.builder(held, issuer.tokens()).count((name, labels) -> results.add(labels.get("result"))).build()) {
            replace(file, named("a"));
            try (Watch watch = gate.watch(file, Duration.ofMillis(20))) {
                // The first version is the active one, which is no news.
                replace(file, named("b"));
                assertEquals("loaded", results.take());
                assertEquals(digest(named("b")), active(held));
                replace(file, "orbgate: 2\napis: {}\n");
                assertEquals("refused", results.take());
                assertEquals(digest(named("b")), active(held));
                Files.delete(file);
                assertEquals("unreadable", results.take());
                replace(file, "orbgate: 1\napis: {}\n");
                watch.readNow();
                assertEquals("unfinished", results.take()); // The one before had the marker.
                replace(file, "orbgate: 1\napis: {}\n...\n");
                watch.readNow();
                assertEquals("loaded", results.take());
            }
            replace(file, named("c"));
            assertNull(results.poll(100, TimeUnit.MILLISECONDS));
            try (Watch sealed = gate.watchSealed(file, Duration.ofMillis(20))) {
                sealed.readNow();
                assertEquals("unsealed", results.take());
                assertThrows(IllegalArgumentException.class, () -> gate.watch(file, Duration.ofNanos(1)));
                assertEquals(digest("orbgate: 1\napis: {}\n"), active(held));
            }
            String all = logged.lines.toString();
            assertTrue(all.contains("a policy is active: " + file + ": " + digest(named("b"))), all);
            assertTrue(all.contains("the previous policy stays active: " + file + ":1:10: "), all);
            assertTrue(all.contains("NoSuchFile") && all.contains("no routes"), all);
        }
    }

    private static String named(String name) {
        return policy("name: " + name, "GET /a");
    }

    private static void replace(Path file, String text) throws IOException {
        Path next = Files.writeString(file.resolveSibling("next"), text);
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
    }

    private static String digest(String policy) {
        try (Engine engine = Engine.fromYaml(policy)) {
            return engine.digest();
        }
    }

    private static String active(Handle handle) {
        try (Engine engine = handle.load()) {
            return engine.digest();
        }
    }

    private static String policy(String setting, String routes) {
        return "orbgate: 1\n" + setting + "\napis: { a: { base_path: '', scopes: { s: { orbs: false, routes: [" + routes + "] } } } }\n...\n";
    }

    @Test
    void theEngineThatDecidedExplains() {
        Engine later = Engine.fromYaml(policy("name: later", ""));
        Handle replaced = new Handle(Engine.external());
        try (Logged logged = new Logged();
                Gate debugging = Gate.builder(replaced, issuer.tokens()).debug().count((name, labels) -> replaced.store(later)).build()) {
            Answer answer = debugging.ask(get("/api/v1/external/account", reader));
            assertEquals(Engine.external().digest(), answer.decision().policy());
            assertEquals(1, logged.lines.size());
            assertTrue(logged.lines.get(0).contains(Engine.external().digest()), logged.lines.get(0));
        }
    }

    @Test
    void aDenialIsExplainedInTheLogOnRequest() {
        Handle policy = new Handle(Engine.external());
        try (Logged logged = new Logged();
                Gate plain = Gate.builder(policy, issuer.tokens()).build();
                Gate debugging = Gate.builder(policy, issuer.tokens()).debug().build()) {
            Answer expected = plain.ask(get("/api/v1/external/account?secret=1", reader));
            assertEquals(List.of(), logged.lines);
            assertEquals(expected, debugging.ask(get("/api/v1/external/account?secret=1", reader)));
            assertTrue(debugging.ask(get(ORBS, reader)).isAllow());
            assertEquals(401, debugging.ask(get(ORBS, "Bearer nonsense")).httpStatus());
            assertEquals(2, logged.lines.size(), logged.lines.toString());
            String first = logged.lines.get(0);
            assertTrue(first.startsWith("denied: {\"method\":\"GET\",\"path\":\"/api/v1/external/account\",\"explanation\":{"), first);
            assertTrue(first.contains("\"reason\":\"scope_missing\"") && first.contains("\"missing_step\"") && first.contains("\"rules\""), first);
            assertTrue(logged.lines.get(1).contains("\"reason\":\"invalid_token\""), logged.lines.get(1));
            // The policy allows a misrouted request, so there is nothing to explain.
            assertEquals(404, debugging.ask(get(ORBS, reader).matched("/other")).httpStatus());
            assertEquals(2, logged.lines.stream().filter(line -> line.startsWith("denied: ")).count(), logged.lines.toString());
            String all = logged.lines.toString();
            assertFalse(all.contains("secret") || all.contains("nonsense") || all.contains("eyJ"), all);
        }
    }

    /** The explanation gets neither headers nor the query, so it would allow these calls. */
    @Test
    void aDenialForAnotherCauseIsLoggedWithItsOwnReason() {
        try (Logged logged = new Logged();
                Gate debugging = Gate.builder(new Handle(Engine.external()), issuer.tokens()).debug().build()) {
            List<String> right = List.of(reader);
            Map<String, GateRequest> requests = Map.of(
                    "upgrade", new GateRequest("GET", ORBS + "?secret", Map.of("Authorization", right, "Upgrade", List.of("h2c"))),
                    "method", new GateRequest("GET", ORBS + "?secret", Map.of("Authorization", right, "X-HTTP-Method-Override", List.of("DELETE"))),
                    "fragment", get(ORBS + "?secret#", reader));
            requests.forEach((detail, request) -> {
                logged.lines.clear();
                Decision decision = debugging.ask(request).decision();
                assertEquals(detail, decision.detail().orElseThrow().toString());
                String expected = "denied: {\"method\":\"GET\",\"path\":\"" + ORBS + "\",\"explanation\":{\"decision\":\"deny\",\"status\":400,"
                        + "\"reason\":\"malformed_request\",\"detail\":\"" + detail + "\",\"api\":null,\"route\":null,\"scope\":null,\"orbs\":null,"
                        + "\"policy\":\"" + decision.policy() + "\"}}";
                assertEquals(List.of(expected), logged.lines);
            });
        }
    }

    /** What the library logs while it is open. */
    private static final class Logged extends java.util.logging.Handler implements AutoCloseable {
        private static final Logger LOGGER = Logger.getLogger("io.github.orbgate");

        final List<String> lines = new CopyOnWriteArrayList<>();

        Logged() {
            LOGGER.addHandler(this);
        }

        @Override
        public void publish(LogRecord entry) {
            if (!entry.getMessage().startsWith("routes that consume orbs: ")) { // once for each gate
                lines.add(entry.getMessage());
            }
        }

        @Override
        public void flush() {}

        @Override
        public void close() {
            LOGGER.removeHandler(this);
        }
    }
}
