package io.github.orbgate.benchmark;

import io.github.orbgate.Batch;
import io.github.orbgate.BonusOrbs;
import io.github.orbgate.Decisions;
import io.github.orbgate.Empty;
import io.github.orbgate.Engine;
import io.github.orbgate.RouteId;
import io.github.orbgate.ScopeSet;
import io.github.orbgate.Token;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.LongSupplier;

/**
 * What a decision costs from Java, beside a call that does nothing. Every loop counts what was allowed, and the count is
 * compared: a wrong answer is no figure.
 */
public final class Benchmark {
    private static final int CALLS = 256;
    private static final int ROUNDS = 400;
    private static final int SAMPLES = 15;
    private static final long WARM_UP_NANOSECONDS = 2_000_000_000;

    /** This thread's own time: others on the machine do not count. */
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private static final String ORBS = "/api/v1/external/orbs";

    private Benchmark() {}

    public static void main(String[] arguments) {
        Engine engine = Engine.external();
        Token text = Token.user("read:voxies read:orbs");
        ScopeSet scopes = engine.scopes("read:voxies read:orbs");
        Token interned = Token.user(scopes);
        RouteId route = engine.findRoute("GET", ORBS).orElseThrow();
        byte[] method = "GET".getBytes(StandardCharsets.US_ASCII);
        byte[] target = ORBS.getBytes(StandardCharsets.US_ASCII);
        Batch batch = new Batch();
        for (int row = 0; row < CALLS; row++) {
            batch.add(method, target);
        }

        System.out.println("Java " + Runtime.version().feature() + ", " + Empty.way() + ", nanoseconds per call");
        measure("an empty call", () -> loop(() -> Empty.call() == 0 ? 0 : 1));
        measure("decideRoute, interned", () -> loop(() -> one(engine.decideRoute(route, interned).isAllow())));
        measure(
                "decide, bytes, interned",
                () -> loop(() -> one(engine.decide(method, target, interned, BonusOrbs.REFUSE).isAllow())));
        measure("decide, strings, interned", () -> loop(() -> one(engine.decide("GET", ORBS, interned).isAllow())));
        measure("decide, strings, text", () -> loop(() -> one(engine.decide("GET", ORBS, text).isAllow())));
        measure("batch of 256, interned, per decision", () -> allowed(engine.decide(batch, interned)));
        measure("batch of 256, filled each time", () -> {
            batch.clear();
            for (int row = 0; row < CALLS; row++) {
                batch.add(method, target);
            }
            return allowed(engine.decide(batch, interned));
        });
    }

    private static long one(boolean allowed) {
        return allowed ? 1 : 0;
    }

    private static long loop(LongSupplier call) {
        long allowed = 0;
        for (int number = 0; number < CALLS; number++) {
            allowed += call.getAsLong();
        }
        return allowed;
    }

    private static long allowed(Decisions decisions) {
        long allowed = 0;
        for (int row = 0; row < decisions.size(); row++) {
            allowed += one(decisions.isAllow(row));
        }
        return allowed;
    }

    /** The median of the samples, once Java's compiler has had its time. */
    private static void measure(String name, LongSupplier calls) {
        double[] samples = new double[SAMPLES];
        for (long start = System.nanoTime(); System.nanoTime() - start < WARM_UP_NANOSECONDS; ) {
            sample(calls, ROUNDS);
        }
        for (int sample = 0; sample < SAMPLES; sample++) {
            samples[sample] = sample(calls, ROUNDS);
        }
        Arrays.sort(samples);
        System.out.printf("%-38s %8.1f%n", name, samples[SAMPLES / 2]);
    }

    private static double sample(LongSupplier calls, int rounds) {
        long start = THREADS.getCurrentThreadCpuTime();
        long allowed = 0;
        for (int round = 0; round < rounds; round++) {
            allowed += calls.getAsLong();
        }
        double time = THREADS.getCurrentThreadCpuTime() - start;
        long calledFor = (long) rounds * CALLS;
        if (allowed != calledFor) {
            throw new IllegalStateException("allowed " + allowed + " of " + calledFor);
        }
        return time / calledFor;
    }
}
