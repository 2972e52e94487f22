package io.github.orbgate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class HandleTest {
    private static final Token TOKEN = Token.user("read:a");

    @Test
    void aHandleKeepsWhatItHolds() {
        Engine first = Engine.fromYaml(EngineTest.POLICY);
        Handle handle = new Handle(first);
        first.close();
        assertTrue(handle.decide("GET", "/a/a", TOKEN).isAllow());
        Engine loaded = handle.load();
        handle.store(Engine.external());
        assertFalse(handle.decide("GET", "/a/a", TOKEN).isAllow());
        assertTrue(loaded.decide("GET", "/a/a", TOKEN).isAllow());
        assertThrows(IllegalStateException.class, () -> handle.store(first));
    }

    /** Engines come, are closed and collected while others decide: every answer is one of the two policies'. */
    @Test
    void everyDecisionIsOfOnePolicy() throws Exception {
        String other = EngineTest.POLICY.replace("read:a", "read:b");
        Handle handle = new Handle(Engine.fromYaml(EngineTest.POLICY));
        Set<String> scopes = Set.of("read:a", "read:b");
        AtomicBoolean done = new AtomicBoolean();
        ExecutorService threads = Executors.newFixedThreadPool(8);
        List<Future<Long>> deciders = new ArrayList<>();
        for (int thread = 0; thread < 8; thread++) {
            deciders.add(threads.submit(() -> {
                long decisions = 0;
                while (!done.get() || decisions == 0) {
                    Decision decision = handle.decide("GET", "/a/a", TOKEN);
                    String scope = decision.scope().orElseThrow();
                    assertTrue(scopes.contains(scope), scope);
                    assertEquals(scope.equals("read:a"), decision.isAllow());
                    decisions++;
                    Thread.yield(); // or eight threads leave the one that reloads no time
                }
                return decisions;
            }));
        }
        for (int reload = 0; reload < 2000; reload++) {
            try (Engine engine = Engine.fromYaml(reload % 2 == 0 ? other : EngineTest.POLICY)) {
                handle.store(engine);
            }
            if (reload % 500 == 0) {
                System.gc();
            }
        }
        done.set(true);
        for (Future<Long> decider : deciders) {
            assertTrue(decider.get() > 0);
        }
        threads.shutdown();
    }
}
