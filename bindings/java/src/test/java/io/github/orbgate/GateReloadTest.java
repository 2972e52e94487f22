package io.github.orbgate;

import static io.github.orbgate.GateTest.get;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
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

    /** A policy in which paths end in a slash, and policies without routes, which differ only in public routes. */
    @Test
    void publicRoutesAndSlashesBelongToWhatIsCompared(@TempDir Path folder) throws Exception {
        String usual = "trailing_slash: never";
        String slash = "trailing_slash: always";
        String escapes = "target: encoded_params";
        assertTrue(refusal(folder, policy(slash, "GET /a"), policy(slash, "GET /a, GET /b"), "GET /docs/{page}").endsWith(": 1 wider"));
        assertTrue(refusal(folder, policy(slash, "GET /a"), policy(usual, "GET /a"), "GET /docs/{page}").endsWith(": 1 wider"));
        assertTrue(refusal(folder, policy(usual, ""), policy(slash, ""), "GET /docs/{page}").contains("`GET /docs/{page}/`"));
        assertTrue(refusal(folder, policy(slash, ""), policy(usual, ""), "GET /docs/{page}").contains("`GET /docs/{page}`"));
        assertTrue(refusal(folder, policy(usual, ""), policy(escapes, ""), "GET /docs/{page}").contains("public route"));
        assertEquals("", refusal(folder, policy(usual, ""), policy(escapes, ""), "GET /healthz"));
    }

    private static String policy(String setting, String routes) {
        return "orbgate: 1\n" + setting + "\napis: { a: { base_path: '', scopes: { s: { orbs: false, routes: [" + routes + "] } } } }\n...\n";
    }

    /** Why a gate refuses a policy as wider; empty if it doesn't. */
    private String refusal(Path folder, String active, String next, String publicRoute) throws Exception {
        Path file = Files.writeString(folder.resolve("policy.yaml"), next);
        try (Engine before = Engine.fromYaml(active);
                Engine after = Engine.fromYaml(next);
                Gate refusing = Gate.builder(new Handle(before), issuer.tokens()).refuseWider().publicRoutes(List.of(publicRoute)).build()) {
            try {
                refusing.reload(file);
                assertEquals(after.digest(), refusing.ask(get("/nowhere", reader)).decision().policy());
                return "";
            } catch (OrbgateException wider) {
                assertEquals(before.digest(), refusing.ask(get("/nowhere", reader)).decision().policy());
                return wider.getMessage();
            }
        }
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
            lines.add(entry.getMessage());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {
            LOGGER.removeHandler(this);
        }
    }
}
