package io.github.orbgate.benchmark;

import io.github.orbgate.Batch;
import io.github.orbgate.BonusOrbs;
import io.github.orbgate.Decisions;
import io.github.orbgate.Empty;
import io.github.orbgate.Engine;
import io.github.orbgate.Questions;
import io.github.orbgate.Questions.RequestToken;
import io.github.orbgate.Token;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * What a decision takes from Java: see {@code cargo xtask bench --bindings}. Answers the requests of a file, METHOD TAB
 * TARGET TAB SCOPES, all of which must be allowed; prints the nanoseconds of a call with bytes, with strings, of a
 * decision in batches of 256, of the same with filling the batch, of an empty call, and of the questions of a folder.
 */
public final class Benchmark {
    private static final int BATCH = 256;

    /** For each figure: Java's compiler needs a part of it. */
    private static final long NANOSECONDS = 1_000_000_000;

    private record Request(String method, String target, byte[] methodBytes, byte[] targetBytes, Token token) {}

    private final Engine engine = Engine.external();
    private final List<Request> requests = new ArrayList<>();
    private final List<Batch> batches = new ArrayList<>();

    /** Has every scope of the file: a batch has one token. */
    private final Token all;

    private Benchmark(Path file) throws IOException {
        Map<String, Token> tokens = new HashMap<>();
        Set<String> scopes = new HashSet<>();
        for (String line : Files.readAllLines(file)) {
            String[] cells = line.split("\t");
            scopes.addAll(List.of(cells[2].split(" ")));
            Token token = tokens.computeIfAbsent(cells[2], text -> Token.user(engine.scopeSet(text)));
            byte[] method = cells[0].getBytes(StandardCharsets.US_ASCII);
            byte[] target = cells[1].getBytes(StandardCharsets.US_ASCII);
            if (requests.size() % BATCH == 0) {
                batches.add(new Batch());
            }
            batches.get(batches.size() - 1).add(method, target);
            requests.add(new Request(cells[0], cells[1], method, target, token));
        }
        all = Token.user(engine.scopeSet(String.join(" ", scopes)));
    }

    public static void main(String[] arguments) throws IOException {
        Benchmark benchmark = new Benchmark(Path.of(arguments[0]));
        benchmark.measure("single", benchmark::single);
        benchmark.measure("strings", benchmark::strings);
        benchmark.measure("batch", benchmark::batches);
        benchmark.measure("filled", benchmark::filled);
        benchmark.measure("empty", benchmark::empty);
        Path folder = Path.of(arguments[1]);
        try (Engine wide = Engine.fromFile(folder.resolve("policy.yaml"))) {
            String[] cells = Files.readString(folder.resolve("reach.json")).split("\"");
            RequestToken token = new RequestToken(cells[5], cells[9]);
            String target = Files.readString(folder.resolve("explain.json")).split("\"")[9];
            Questions.Request request = new Questions.Request().withMethod("GET").withTarget(target).withToken(token);
            Questions.ExplainArguments explain = new Questions.ExplainArguments(request);
            ask(wide, folder, "explain", () -> wide.explain(explain).reason().equals("no_route"));
            Questions.ReachArguments reach = new Questions.ReachArguments(token);
            int routes = wide.routes().size();
            ask(wide, folder, "reach", () -> wide.reach(reach).allowed().size() == routes);
        }
    }

    /** Asks a question with types, and as JSON, and checks each answer. */
    private static void ask(Engine engine, Path folder, String question, BooleanSupplier typed) throws IOException {
        String given = Files.readString(folder.resolve(question + ".json"));
        String expected = Files.readString(folder.resolve(question + ".answer.json"));
        best(question, typed);
        best(question + "-json", () -> engine.ask(question, given).equals(expected));
    }

    private static void best(String name, BooleanSupplier call) {
        long best = Long.MAX_VALUE;
        long begun = System.nanoTime();
        while (System.nanoTime() - begun < NANOSECONDS) {
            long start = System.nanoTime();
            boolean isRight = call.getAsBoolean();
            best = Math.min(best, System.nanoTime() - start);
            if (!isRight) {
                throw new IllegalStateException(name + ": another answer");
            }
        }
        System.out.printf("%s %d%n", name, best);
    }

    private long single() {
        long allowed = 0;
        for (Request request : requests) {
            allowed += one(
                    engine.decide(request.methodBytes, request.targetBytes, request.token, BonusOrbs.REFUSE).isAllow());
        }
        return allowed;
    }

    private long strings() {
        long allowed = 0;
        for (Request request : requests) {
            allowed += one(engine.decide(request.method, request.target, request.token).isAllow());
        }
        return allowed;
    }

    private long batches() {
        long allowed = 0;
        for (Batch batch : batches) {
            allowed += allowed(engine.decide(batch, all));
        }
        return allowed;
    }

    private long filled() {
        long allowed = 0;
        Batch batch = new Batch();
        for (int first = 0; first < requests.size(); first += BATCH) {
            batch.clear();
            for (Request request : requests.subList(first, Math.min(first + BATCH, requests.size()))) {
                batch.add(request.method, request.target);
            }
            allowed += allowed(engine.decide(batch, all));
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

    private long empty() {
        long right = 0;
        for (int at = 0; at < requests.size(); at++) {
            right += one(Empty.call() >> 16 == 1);
        }
        return right;
    }

    private static long one(boolean right) {
        return right ? 1 : 0;
    }

    /** The least of many passes: noise only adds. */
    private void measure(String name, LongSupplier pass) {
        long best = Long.MAX_VALUE;
        long begun = System.nanoTime();
        while (System.nanoTime() - begun < NANOSECONDS) {
            long start = System.nanoTime();
            long right = pass.getAsLong();
            best = Math.min(best, System.nanoTime() - start);
            if (right != requests.size()) {
                throw new IllegalStateException("allowed " + right + " of " + requests.size());
            }
        }
        System.out.printf("%s %.2f%n", name, (double) best / requests.size());
    }
}
