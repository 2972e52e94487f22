package io.github.orbgate;

import static io.github.orbgate.GateTest.get;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How a watch ends, and which engine explains a denial. */
class GateReloadTest extends WithIssuer {
    /** What comes of each version, the exchanges of every language show. */
    @Test
    void aFileIsFollowedUntilItsWatchIsClosed(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("policy.yaml");
        BlockingQueue<String> results = new LinkedBlockingQueue<>();
        Handle held = new Handle(Engine.fromYaml(policy("name: a", "GET /a")));
        try (Gate gate = Gate.builder(held, issuer.tokens()).count((name, labels) -> results.add(labels.get("result"))).build()) {
            replace(file, policy("name: b", "GET /a"));
            try (Watch watch = gate.watch(file, Duration.ofMinutes(10))) {
                watch.readNow();
                assertEquals("loaded", results.take());
            }
            replace(file, policy("name: c", "GET /a"));
            assertNull(results.poll(100, TimeUnit.MILLISECONDS));
            try (Watch sealed = gate.watchSealed(file, Duration.ofMillis(20))) {
                sealed.readNow();
                assertEquals("unsealed", results.take());
                assertThrows(IllegalArgumentException.class, () -> gate.watch(file, Duration.ofNanos(1)));
            }
        }
    }

    private static void replace(Path file, String text) throws IOException {
        Path next = Files.writeString(file.resolveSibling("next"), text);
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
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
            // The policy allows a misrouted request, so there is nothing to explain.
            replaced.store(Engine.external());
            assertEquals(404, debugging.ask(get(ORBS, reader).matched("/other")).httpStatus());
            assertEquals(1, logged.lines.stream().filter(line -> line.startsWith("denied: ")).count(), logged.lines.toString());
            assertTrue(logged.lines.get(0).contains(Engine.external().digest()), logged.lines.get(0));
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
            if (!entry.getMessage().startsWith("charging: ")) { // once for each gate
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
