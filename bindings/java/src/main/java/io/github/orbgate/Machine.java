package io.github.orbgate;

import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.LongToIntFunction;
import java.util.stream.Stream;

/**
 * The native gate: policy and keys, without network and clock. It is freed once it is closed and the last call has
 * returned. After {@link #close}, every call throws {@link IllegalStateException}. Times are in milliseconds.
 */
final class Machine {
    /** Larger buffers are not kept: few requests need them. */
    private static final int MOST_KEPT = 64 << 10;

    /** The offset in a buffer for the output pointer of a call, followed by the step's info, and then arrays and strings. */
    private static final int OUT = Layout.GateRequest.SIZE;

    private static final int INFO = OUT + 8;
    private static final int TEXTS = INFO + Layout.StepInfo.SIZE;

    private final long gate;
    private final AtomicBoolean isClosed = new AtomicBoolean();
    /** The number of running calls, plus one until it is closed. */
    private final AtomicInteger users = new AtomicInteger(1);

    private final Cleaner.Cleanable free;
    private final ConcurrentLinkedQueue<NativeBuffer> buffers = new ConcurrentLinkedQueue<>();

    /** A URL to fetch, for an attempt: with POST if there is a question. */
    record Fetch(long attempt, String url, int timeoutMs, long maxBytes, Optional<Question> question) {}

    /** A question about an opaque token. It contains the token and a secret, so nothing shows it. */
    static final class Question {
        final String authorization;
        final String body;

        Question(String authorization, String body) {
            this.authorization = authorization;
            this.body = body;
        }
    }

    /** The result of a fetch. */
    record Fetched(int status, String cacheControl, byte[] body) {}

    Machine(byte[] tokens, int flags, Challenge challenge, List<String> publicRoutes, CorsPreflight preflight) {
        NativeBuffer out = new NativeBuffer(16);
        check(Library.ABI.call("orbgate_verifier_from_yaml", tokens, (long) tokens.length, out.address, out.address + 8), out);
        long verifier = out.bytes.getLong(0);
        try {
            NativeBuffer options = options(flags, challenge, publicRoutes, preflight);
            check(Library.ABI.call("orbgate_gate_new", verifier, options.address, out.address, out.address + 8), out);
            Reference.reachabilityFence(options);
        } finally {
            Library.ABI.call("orbgate_verifier_free", verifier);
        }
        long made = out.bytes.getLong(0);
        gate = made;
        free = Library.CLEANER.register(this, () -> Library.ABI.call("orbgate_gate_free", made));
    }

    /** Reads the secrets for opaque tokens again. */
    void readSecrets() {
        checked(error -> Library.ABI.call("orbgate_gate_read_secrets", gate, 0L, 0L, error));
    }

    /** Checks that no path matches both a public route and a route of the engine's policy. */
    void checkEngine(long engine) {
        checked(error -> Library.ABI.call("orbgate_gate_check_engine", gate, engine, error));
    }

    /** Checks that each request that is public with the next engine is also public with the active one. */
    void checkWider(long active, long next) {
        checked(error -> Library.ABI.call("orbgate_gate_check_wider", gate, active, next, error));
    }

    private void checked(LongToIntFunction call) {
        during(0, buffer -> {
            buffer.bytes.putLong(OUT, 0);
            int status = call.applyAsInt(buffer.address + OUT);
            Problem.check(status, buffer.bytes.getLong(OUT));
            return null;
        });
    }

    /** Compares the routes of a service with those of the engine's policy and the public ones. */
    void checkRoutes(long engine, List<ServiceRoute> routes) {
        during(0, buffer -> {
            Routes.check(gate, engine, routes);
            return null;
        });
    }

    private static void check(int status, NativeBuffer out) {
        Problem.check(status, out.bytes.getLong(8));
    }

    private static NativeBuffer options(int flags, Challenge challenge, List<String> publicRoutes, CorsPreflight preflight) {
        byte[] realm = Text.bytes(challenge.realm().orElse(""), "realm");
        byte[] metadata = Text.bytes(challenge.resourceMetadata().orElse(""), "resourceMetadata");
        List<byte[]> routes = publicRoutes.stream().map(route -> Text.bytes(route, "publicRoutes")).toList();
        NativeBuffer options =
                new NativeBuffer(Layout.GateOptions.SIZE + Texts.room(List.of(realm, metadata)) + Texts.room(routes));
        options.bytes.putInt(Layout.GateOptions.STRUCT_SIZE, Layout.GateOptions.SIZE);
        options.bytes.putInt(Layout.GateOptions.FLAGS, flags | Layout.GATE_INTROSPECTION);
        options.bytes.putInt(Layout.GateOptions.CHALLENGE, challenge.extent().number);
        int strings = Layout.GateOptions.SIZE + routes.size() * Layout.Str.SIZE;
        Texts texts = new Texts(options, strings);
        texts.put(Layout.GateOptions.REALM, realm);
        texts.put(Layout.GateOptions.RESOURCE_METADATA, metadata);
        texts.putAll(Layout.GateOptions.SIZE, routes);
        options.bytes.putLong(Layout.GateOptions.PUBLIC_ROUTES, routes.isEmpty() ? 0 : options.address + Layout.GateOptions.SIZE);
        options.bytes.putLong(Layout.GateOptions.PUBLIC_ROUTE_COUNT, routes.size());
        options.bytes.putInt(Layout.GateOptions.CORS_PREFLIGHT, preflight.number);
        return options;
    }

    /** Makes a call with a buffer of at least this many bytes after the request's struct and the step's info. */
    private <T> T during(int room, Call<T> call) {
        if (isClosed.get() || users.getAndUpdate(count -> count == 0 ? 0 : count + 1) == 0) {
            throw new IllegalStateException("the gate is closed");
        }
        NativeBuffer buffer = buffers.poll();
        if (buffer == null || buffer.bytes.capacity() - TEXTS < room) {
            buffer = new NativeBuffer(Math.max(Math.addExact(TEXTS, room), 4 << 10));
        }
        try {
            return call.with(buffer);
        } finally {
            if (buffer.bytes.capacity() <= MOST_KEPT) {
                buffers.add(buffer);
            }
            leave();
        }
    }

    @FunctionalInterface
    private interface Call<T> {
        T with(NativeBuffer buffer);
    }

    private void leave() {
        if (users.decrementAndGet() == 0) {
            free.clean();
        }
        Reference.reachabilityFence(this);
    }

    void close() {
        if (isClosed.compareAndSet(false, true)) {
            leave();
        }
    }

    boolean isFreed() {
        return users.get() == 0;
    }

    /** Answers a request with this engine. */
    Step ask(long engine, Table table, GateRequest request, boolean hasAudit, long unixMs, long monotonicMs) {
        byte[] method = Text.ofRequest(request.method(), "method");
        byte[] target = Text.ofRequest(request.target(), "target");
        byte[] template = Text.ofRequest(request.matched().orElse(""), "matched");
        List<List<byte[]>> headers = HEADERS.stream().map(header -> texts(header.values().apply(request))).toList();
        int room = Texts.room(Stream.concat(Stream.of(method, target, template), headers.stream().flatMap(List::stream)).toList());
        return during(room, buffer -> {
            ByteBuffer fields = buffer.bytes;
            int count = headers.stream().mapToInt(List::size).sum();
            Texts texts = new Texts(buffer, TEXTS + count * Layout.Str.SIZE);
            fields.putInt(Layout.GateRequest.STRUCT_SIZE, Layout.GateRequest.SIZE);
            fields.putInt(Layout.GateRequest.FLAGS, Layout.HOLDS_THREAD | request.bonus().flags | (hasAudit ? Layout.WITH_AUDIT : 0));
            texts.put(Layout.GateRequest.METHOD, method);
            texts.put(Layout.GateRequest.TARGET, target);
            texts.put(Layout.GateRequest.PATH_TEMPLATE, template);
            fields.putInt(Layout.GateRequest.MATCHED, matched(request));
            fields.putInt(Layout.GateRequest.RESERVED, 0);
            int at = TEXTS;
            for (int index = 0; index < headers.size(); index++) {
                List<byte[]> values = headers.get(index);
                texts.putAll(at, values);
                fields.putLong(HEADERS.get(index).array(), buffer.address + at);
                fields.putLong(HEADERS.get(index).count(), values.size());
                at += values.size() * Layout.Str.SIZE;
            }
            int status = Library.ABI.ask(gate, engine, buffer.address, unixMs, monotonicMs, buffer.address + OUT);
            return step(status, table, buffer);
        });
    }

    /** The headers of a request: where its struct has the array of strings and their number. */
    private record Header(int array, int count, Function<GateRequest, List<String>> values) {}

    private static final List<Header> HEADERS = List.of(
            new Header(
                    Layout.GateRequest.AUTHORIZATION, Layout.GateRequest.AUTHORIZATION_COUNT, GateRequest::authorization),
            new Header(Layout.GateRequest.HEADER_NAMES, Layout.GateRequest.HEADER_NAME_COUNT, GateRequest::headerNames),
            new Header(Layout.GateRequest.UPGRADE, Layout.GateRequest.UPGRADE_COUNT, GateRequest::upgrade),
            new Header(Layout.GateRequest.ORIGIN, Layout.GateRequest.ORIGIN_COUNT, GateRequest::origin),
            new Header(
                    Layout.GateRequest.ACCESS_CONTROL_REQUEST_METHOD,
                    Layout.GateRequest.ACCESS_CONTROL_REQUEST_METHOD_COUNT,
                    GateRequest::accessControlRequestMethod));

    private static List<byte[]> texts(List<String> texts) {
        return texts.stream().map(text -> Text.ofRequest(text, "a header")).toList();
    }

    private static int matched(GateRequest request) {
        return request.matched()
                .map(template -> template.isEmpty() ? Layout.MATCHED_UNKNOWN : Layout.MATCHED_TEMPLATE)
                .orElse(Layout.MATCHED_NOTHING);
    }

    /** Resumes after a wait. It consumes the step. */
    Step resume(long engine, Table table, Step step, long unixMs, long monotonicMs) {
        return during(0, buffer -> step(
                Library.ABI.call(
                        "orbgate_gate_resume", gate, engine, step.take(), unixMs, monotonicMs, buffer.address + OUT),
                table,
                buffer));
    }

    private static Step step(int status, Table table, NativeBuffer buffer) {
        Core.check(status);
        return Step.of(buffer.bytes.getLong(OUT), table, buffer, INFO);
    }

    /** Whether the wait of a step is over. */
    boolean isOver(Step step, long monotonicMs) {
        return during(0, buffer -> {
            long out = buffer.address + OUT;
            Core.check(Library.ABI.call("orbgate_gate_is_over", gate, step.pointer(), monotonicMs, out));
            return buffer.bytes.get(OUT) == 1;
        });
    }

    /** Requests every issuer's keys. */
    void warm(long monotonicMs) {
        during(0, buffer -> {
            Core.check(Library.ABI.call("orbgate_gate_warm", gate, monotonicMs));
            return null;
        });
    }

    /** The next fetch; null if there is none. */
    Fetch nextFetch(long monotonicMs) {
        return during(0, buffer -> {
            Core.check(Library.ABI.nextFetch(gate, monotonicMs, buffer.address + OUT));
            return fetch(buffer);
        });
    }

    /** Reports the result of a fetch. Returns the next fetch of the same attempt, or null when it is over. */
    Fetch fetched(long attempt, Fetched came, long monotonicMs) {
        byte[] control = Text.ofRequest(came.cacheControl(), "cacheControl");
        byte[] body = came.body();
        return during(0, buffer -> {
            Core.check(Library.ABI.call(
                    "orbgate_gate_fetched",
                    gate,
                    attempt,
                    came.status(),
                    control,
                    (long) control.length,
                    body,
                    (long) body.length,
                    monotonicMs,
                    buffer.address + OUT));
            return fetch(buffer);
        });
    }

    /** Reports that a fetch has failed, with a {@code Layout.FETCH_} number as the reason. */
    void fetchFailed(long attempt, int failure, long monotonicMs) {
        during(0, buffer -> {
            Core.check(Library.ABI.call("orbgate_gate_fetch_failed", gate, attempt, failure, monotonicMs));
            return null;
        });
    }

    /** Reads the fetch that a call has returned, and frees it. */
    private static Fetch fetch(NativeBuffer buffer) {
        long fetch = buffer.bytes.getLong(OUT);
        if (fetch == 0) {
            return null;
        }
        try {
            buffer.bytes.putInt(INFO + Layout.FetchInfo.STRUCT_SIZE, Layout.FetchInfo.SIZE);
            Core.check(Library.ABI.call("orbgate_fetch_info", fetch, buffer.address + INFO));
            return new Fetch(
                    buffer.bytes.getLong(INFO + Layout.FetchInfo.ATTEMPT),
                    buffer.text(INFO + Layout.FetchInfo.URL),
                    buffer.bytes.getInt(INFO + Layout.FetchInfo.TIMEOUT_MS),
                    buffer.bytes.getLong(INFO + Layout.FetchInfo.MAX_BYTES),
                    Optional.ofNullable(buffer.text(INFO + Layout.FetchInfo.BODY))
                            .map(body -> new Question(buffer.text(INFO + Layout.FetchInfo.AUTHORIZATION), body)));
        } finally {
            Library.ABI.call("orbgate_fetch_free", fetch);
        }
    }

    /** {@code orbgate_gate_revoke} and {@code orbgate_gate_forget}: both accept strings, the first of which is an issuer. */
    void withIssuer(String function, String issuer, Optional<String> kid) {
        byte[] first = Text.bytes(issuer, "issuer");
        byte[] second = kid.map(text -> Text.bytes(text, "kid")).orElse(null);
        int status = during(0, buffer -> second == null
                ? Library.ABI.call(function, gate, first, (long) first.length)
                : Library.ABI.call(function, gate, first, (long) first.length, second, (long) second.length));
        if (status == Layout.STATUS_NOT_FOUND) {
            throw new NoSuchElementException("the configuration has no issuer `" + issuer + "`");
        }
        Core.check(status);
    }

    /** The state of each issuer's keys. */
    List<IssuerKeys> status(long monotonicMs) {
        return during(0, buffer -> {
            Core.check(Library.ABI.call("orbgate_gate_status", gate, buffer.address + OUT));
            long status = buffer.bytes.getLong(OUT);
            try {
                return Stream.iterate(0L, index -> index + 1)
                        .map(index -> issuer(status, index, buffer, monotonicMs))
                        .takeWhile(Optional::isPresent)
                        .map(Optional::get)
                        .toList();
            } finally {
                Library.ABI.call("orbgate_key_status_free", status);
            }
        });
    }

    private static Optional<IssuerKeys> issuer(long status, long index, NativeBuffer buffer, long monotonicMs) {
        buffer.bytes.putInt(INFO + Layout.IssuerStatus.STRUCT_SIZE, Layout.IssuerStatus.SIZE);
        int answer = Library.ABI.call("orbgate_key_status_issuer", status, index, buffer.address + INFO);
        if (answer == Layout.STATUS_NOT_FOUND) {
            return Optional.empty();
        }
        Core.check(answer);
        return Optional.of(IssuerKeys.read(buffer, INFO, monotonicMs));
    }
}
