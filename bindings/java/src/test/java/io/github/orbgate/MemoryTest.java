package io.github.orbgate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Closing an engine frees it at once: the collector cannot see its memory. */
final class MemoryTest {
    private static final Path STATM = Path.of("/proc/self/statm");

    /** Policies have some tens of KiB outside Java's memory: all of them would be ten times as much. */
    private static final long MOST_GROWN_KIB = 24 << 10;

    private static final int RELOADS = 10_000;

    /** The program that the test starts, in a Java process whose own memory does not grow. */
    static final class Reloads {
        public static void main(String[] arguments) throws Exception {
            StringBuilder yaml = new StringBuilder(
                    "orbgate: 1\napis:\n  a:\n    base_path: /a\n    scopes:\n      s:\n        orbs: false\n        routes:\n");
            for (int route = 0; route < 30; route++) {
                yaml.append("          - GET /route-").append(route).append("/{id}\n");
            }
            String policy = yaml.toString();
            Handle handle = new Handle(Engine.fromYaml(policy));
            AtomicBoolean done = new AtomicBoolean();
            Thread reader = new Thread(() -> {
                while (!done.get()) {
                    try (Engine engine = handle.load()) {
                        require(handle.decide("GET", "/a/route-7/1", Token.user("s")));
                        require(engine.decide("GET", "/a/route-8/1", Token.user("s")));
                    }
                    Thread.yield();
                }
            });
            reader.start();
            long before = 0;
            for (int reload = 0; reload < RELOADS; reload++) {
                try (Engine engine = Engine.fromYaml(policy)) {
                    require(engine.decide("GET", "/a/route-9/1", Token.user(engine.scopeSet("s"))));
                    if (reload % 2 == 0) {
                        handle.store(engine);
                    }
                }
                if (reload == RELOADS / 10) {
                    before = resident();
                }
            }
            done.set(true);
            reader.join();
            System.out.println(resident() - before);
        }

        private static void require(Decision decision) {
            if (!decision.isAllow() || !decision.scope().orElseThrow().equals("s")) {
                System.out.println(decision);
                System.exit(1);
            }
        }

        private static long resident() throws Exception {
            return Long.parseLong(Files.readString(STATM).split(" ")[1]) * 4;
        }
    }

    @Test
    void tenThousandReloadsAreFlat() throws Exception {
        assumeTrue(Files.exists(STATM), "this system does not say how large a process is");
        List<String> printed =
                LibraryTest.printed(
                        Reloads.class,
                        LibraryTest.CLASSES,
                        "-Dorbgate.library=" + Library.path(),
                        "-Xms192m",
                        "-Xmx192m",
                        "-XX:+UseSerialGC",
                        "-XX:+AlwaysPreTouch");
        long grown = Long.parseLong(printed.get(0));
        assertTrue(grown < MOST_GROWN_KIB, "grown by " + grown + " KiB in " + RELOADS + " reloads");
    }

    /** Calls, owners and the last close may run in any order: the engine is freed once, after the last call. */
    @Test
    void anEngineIsFreedOnceAndUnderNobody() throws Exception {
        for (int round = 0; round < 200; round++) {
            Core core = Engine.fromYaml(EngineTest.POLICY).share();
            core.disown();
            AtomicInteger inside = new AtomicInteger();
            AtomicBoolean wrong = new AtomicBoolean();
            List<Thread> threads = new ArrayList<>();
            for (int owner = 0; owner < 8; owner++) {
                int times = owner;
                threads.add(new Thread(() -> {
                    for (int lane = core.enter(); lane >= 0; lane = core.enter()) {
                        inside.incrementAndGet();
                        if (core.isFreed()) {
                            wrong.set(true);
                        }
                        inside.decrementAndGet();
                        core.leave(lane);
                    }
                }));
                threads.add(new Thread(() -> {
                    for (int time = 0; time < times; time++) {
                        if (core.own()) {
                            core.disown();
                        }
                    }
                }));
            }
            threads.forEach(Thread::start);
            core.disown();
            for (Thread thread : threads) {
                thread.join();
            }
            assertEquals(0, inside.get());
            assertTrue(core.isFreed() && !core.own() && core.enter() < 0 && !wrong.get());
        }
    }

    /** A call that comes too late finds its lane closed, and drains it once more in vain: another lane still has a call. */
    @Test
    void callsThatComeTooLateFreeNothing() throws Exception {
        Core core = Engine.fromYaml(EngineTest.POLICY).share();
        core.disown();
        int held = core.enter();
        core.disown();
        AtomicInteger entered = new AtomicInteger();
        List<Thread> late = new ArrayList<>();
        for (int number = 0; number < 64; number++) {
            late.add(new Thread(() -> {
                if (core.enter() >= 0) {
                    entered.incrementAndGet();
                }
            }));
        }
        late.forEach(Thread::start);
        for (Thread thread : late) {
            thread.join();
        }
        assertEquals(0, entered.get());
        assertTrue(!core.isFreed(), "freed under a call");
        core.leave(held);
        assertTrue(core.isFreed());
    }
}
