package io.github.orbgate;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.github.orbgate.testing.TestIssuer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Calls a service whose callers leave at each of its waits: for the rest of a head or a body, for the verification of a token, and in the
 * answer. The number of a call decides what its caller, the issuer and the handler do. Policies and keys are replaced meanwhile. In the end
 * no step is open. {@code ORBGATE_LEAVING} is the number of calls.
 */
public final class Leaving implements AutoCloseable {
    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();
    private static final String BODY = "{\"allowBonusOrbsUse\": true, \"text\": \"" + "x".repeat(2_000) + "\"}";
    private static final String TEXT = "the answer of the handler";
    private static final Pattern TOKEN = Pattern.compile("token=(?:un)?known-(\\d+)");

    /** How many calls are made at the same time. */
    private static final int TOGETHER = 8;

    private static final int SECONDS = 60;

    private enum Moment {
        IN_HEAD,
        BEFORE_BODY,
        IN_BODY,
        IN_VERIFICATION,
        IN_ANSWER,
        NEVER
    }

    private enum Token {
        ACTIVE,
        INACTIVE,
        /** Of an issuer that answers no question, and is soon asked less often. */
        UNANSWERED,
        SIGNED
    }

    /** What a handler does. */
    public enum Handler {
        /** It answers. */
        ANSWERS,
        /** It throws before a piece of its answer. */
        THROWS,
        /** It returns, and another thread answers. */
        LATER,
        /** It returns, and nobody answers. */
        NEVER
    }

    /** The gate to protect the service with, which reads bodies: its route is {@code POST /run}. */
    public final Gate gate;

    private final TestIssuer issuer = new TestIssuer();
    private final String signed = issuer.bearer(TokenKind.USER, "run");
    private final HttpServer opaque = HttpServer.create(new InetSocketAddress(LOOPBACK, 0), 0);
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final Map<Integer, Plan> plans = new ConcurrentHashMap<>();
    /** Those whose issuer doesn't answer until {@link Plan#released}. */
    private final BlockingQueue<Plan> stalled = new LinkedBlockingQueue<>();
    private final AtomicInteger leftInVerification = new AtomicInteger();
    private final AtomicInteger leftInAnswer = new AtomicInteger();
    private final Path folder = Files.createTempDirectory("orbgate-leaving");
    private final Path policy = folder.resolve("policy.yaml");

    /** Starts the issuers. */
    public Leaving() throws IOException {
        opaque.createContext("/", this::introspect);
        opaque.setExecutor(threads);
        opaque.start();
        Path secret = Files.writeString(folder.resolve("secret"), "secret");
        Files.writeString(policy, "orbgate: 1\napis: { a: { base_path: '', scopes: { run: { orbs: true, routes: [POST /run] } } } }\n...\n");
        StringBuilder tokens = new StringBuilder(issuer.tokens());
        for (String prefix : List.of("known-", "unknown-")) {
            tokens.append("""
                  - issuer: https://%s.test
                    audience: https://service.test
                    kind: user
                    account: subject
                    opaque: { endpoint: 'http://127.0.0.1:%d/', client_id: service, client_secret_file: '%s', prefix: %s }
                """.formatted(prefix + "issuer", opaque.getAddress().getPort(), secret, prefix));
        }
        gate = Gate.of(new Handle(Engine.fromFile(policy)), tokens.toString());
    }

    /** What happens in a call. */
    public final class Plan {
        /** What its handler does. */
        public final Handler handler;

        private final int number;
        private final Token token;
        private final Moment moment;
        private final List<String> pieces = new ArrayList<>();
        /** Of the piece before which its caller leaves or its handler throws. */
        private final int piece;
        private final boolean resets;
        private final boolean isChunked;
        private final int waitMs;
        /** When its issuer answers. */
        private final CountDownLatch released;
        private volatile Socket socket;

        private Plan(int number, boolean stalls) {
            SplittableRandom random = new SplittableRandom(number);
            this.number = number;
            released = new CountDownLatch(stalls ? 1 : 0);
            token = stalls ? Token.ACTIVE : one(random, Token.values());
            moment = stalls ? Moment.NEVER : one(random, Moment.values());
            // Every other handler answers.
            handler = random.nextBoolean() ? Handler.ANSWERS : one(random, Handler.values());
            int cut = random.nextInt(TEXT.length());
            pieces.addAll(List.of(TEXT.substring(0, cut), TEXT.substring(cut)));
            piece = random.nextInt(pieces.size() + 1);
            resets = random.nextBoolean();
            isChunked = random.nextBoolean();
            waitMs = random.nextInt(4);
        }

        private static <T> T one(SplittableRandom random, T[] values) {
            return values[random.nextInt(values.length)];
        }

        /** Answers the request. */
        public void answer(OutputStream to) throws IOException {
            for (int at = 0; at < pieces.size(); at++) {
                before(at);
                to.write(pieces.get(at).getBytes(StandardCharsets.US_ASCII));
                to.flush();
            }
            before(pieces.size());
        }

        private void before(int at) throws IOException {
            if (at == piece && moment == Moment.IN_ANSWER) {
                leftInAnswer.incrementAndGet();
                leave();
                pause();
            }
            if (at == piece && handler == Handler.THROWS) {
                throw new IllegalStateException("a handler fails, as planned");
            }
        }

        private void pause() {
            try {
                Thread.sleep(waitMs);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
        }

        private void leave() throws IOException {
            if (resets) {
                socket.setSoLinger(true, 0);
            }
            socket.close();
        }

        private String call(int port) throws IOException {
            try (Socket connected = new Socket(LOOPBACK, port)) {
                // Jetty loses a request in some thousands that no handler answers: its state stays at EXPIRE.
                connected.setSoTimeout((handler == Handler.NEVER ? SECONDS / 10 : SECONDS / 2) * 1_000);
                socket = connected;
                send(connected.getOutputStream());
                return new String(connected.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
            } catch (IOException left) {
                return "";
            }
        }

        private void send(OutputStream to) throws IOException {
            String bearer = switch (token) {
                case SIGNED -> signed;
                case UNANSWERED -> "Bearer unknown-" + number;
                default -> "Bearer known-" + number;
            };
            String head = "POST /run HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\nX-Number: " + number
                    + "\r\nAuthorization: " + bearer + "\r\n"
                    + (isChunked ? "Transfer-Encoding: chunked" : "Content-Length: " + BODY.length()) + "\r\n\r\n";
            if (moment == Moment.IN_HEAD) {
                to.write(head.substring(0, head.length() / 2).getBytes(StandardCharsets.US_ASCII));
                leave();
                return;
            }
            to.write(head.getBytes(StandardCharsets.US_ASCII));
            String body = isChunked ? Integer.toHexString(BODY.length()) + "\r\n" + BODY + "\r\n0\r\n\r\n" : BODY;
            int sent = moment == Moment.BEFORE_BODY ? 0 : body.length() / 2;
            to.write(body.substring(0, sent).getBytes(StandardCharsets.US_ASCII));
            to.flush();
            if (moment == Moment.BEFORE_BODY || moment == Moment.IN_BODY) {
                pause();
                leave();
                return;
            }
            to.write(body.substring(sent).getBytes(StandardCharsets.US_ASCII));
            to.flush();
            if (moment == Moment.IN_VERIFICATION && token == Token.SIGNED) {
                pause();
                leave();
            }
        }

        /** Whether its caller gets what it should; it is unknown of one that leaves or of a handler that fails. */
        private boolean isRight(String answer) {
            if (moment != Moment.NEVER) {
                return true;
            }
            // A server can close a connection before it has read the body, and then its answer can be lost.
            boolean isRefused = answer.isEmpty() || answer.startsWith("HTTP/1.1 401");
            boolean isAnswered = answer.startsWith("HTTP/1.1 200") && answer.replaceAll("\r\n[0-9a-f]+\r\n", "").contains(TEXT);
            return switch (token) {
                case ACTIVE -> handler != Handler.ANSWERS || isAnswered;
                case INACTIVE, UNANSWERED -> isRefused;
                // Keys are forgotten more often than an issuer may be asked for them.
                case SIGNED -> handler != Handler.ANSWERS || isAnswered || isRefused;
            };
        }
    }

    /** The plan of a request, by its header {@code X-Number}. */
    public Plan plan(String number) {
        return plans.get(Integer.valueOf(number));
    }

    /** Runs what a handler leaves to another thread. */
    public void later(Runnable task) {
        threads.execute(task);
    }

    private void introspect(HttpExchange exchange) throws IOException {
        try (exchange) {
            Matcher found = TOKEN.matcher(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.US_ASCII));
            if (!found.find()) {
                throw new IOException("no token");
            }
            Plan plan = plan(found.group(1));
            if (plan.moment == Moment.IN_VERIFICATION) {
                leftInVerification.incrementAndGet();
                plan.leave();
            }
            plan.pause();
            if (plan.released.getCount() > 0) {
                stalled.add(plan);
                plan.released.await();
            }
            if (plan.token == Token.UNANSWERED && plan.resets) {
                return; // It closes the connection.
            }
            byte[] answer = (plan.token == Token.ACTIVE
                            ? "{\"active\":true,\"iss\":\"https://known-issuer.test\",\"aud\":\"https://service.test\",\"sub\":\"subject\",\"client_id\":"
                                    + "\"client\",\"token_type\":\"Bearer\",\"scope\":\"run\",\"exp\":" + (System.currentTimeMillis() / 1_000 + 600) + "}"
                            : "{\"active\":false}")
                    .getBytes(StandardCharsets.US_ASCII);
            exchange.getResponseHeaders().add("Content-Type", "application/json");
            exchange.sendResponseHeaders(plan.token == Token.UNANSWERED ? 500 : 200, answer.length);
            exchange.getResponseBody().write(answer);
        } catch (InterruptedException over) {
            Thread.currentThread().interrupt();
        }
    }

    /** Calls the service at a port of loopback, and throws if a caller gets another answer than it should, or if a step stays. */
    public void run(int port) throws Exception {
        String stated = System.getenv("ORBGATE_LEAVING");
        int calls = stated == null ? 200 : Integer.parseInt(stated);
        SplittableRandom random = new SplittableRandom(-1);
        Watch watch = gate.watch(policy, Duration.ofMillis(1));
        for (int done = 0; done < calls; ) {
            int together = Math.min(1 + random.nextInt(TOGETHER), calls - done);
            List<Future<String>> answers = started(done, together, false, port);
            switch (random.nextInt(8)) {
                case 0 -> gate.forget(gate.keys().get(0).issuer());
                case 1 -> gate.reload(policy);
                case 2 -> watch.readNow();
                default -> {}
            }
            for (int at = 0; at < together; at++) {
                Plan plan = plans.get(done + at);
                String answer = answers.get(at).get(SECONDS, TimeUnit.SECONDS);
                if (!plan.isRight(answer)) {
                    throw new AssertionError(plan.number + ": " + plan.token + ", " + plan.handler + ": " + answer);
                }
            }
            done += together;
        }
        watch.close();
        interruptWhoWaits(calls);
        awaitNoStep("after the last call");
        if (leftInVerification.get() == 0 || leftInAnswer.get() == 0) {
            throw new AssertionError("nobody left: " + leftInVerification + ", " + leftInAnswer);
        }
        closeWhileCallersWait(calls + 1, port);
    }

    private List<Future<String>> started(int first, int count, boolean stalls, int port) {
        List<Future<String>> answers = new ArrayList<>();
        for (int number = first; number < first + count; number++) {
            Plan plan = new Plan(number, stalls);
            plans.put(number, plan);
            answers.add(threads.submit(() -> plan.call(port)));
        }
        return answers;
    }

    /** A service asks the gate itself, and interrupts the thread. */
    private void interruptWhoWaits(int number) throws InterruptedException {
        Plan plan = new Plan(number, true);
        plans.put(number, plan);
        GateRequest request = new GateRequest("POST", "/run", Map.of("Authorization", List.of("Bearer known-" + number)));
        Thread asks = new Thread(() -> gate.ask(request));
        asks.start();
        firstStalled(number);
        asks.interrupt();
        asks.join();
        plan.released.countDown();
    }

    private Plan firstStalled(int number) throws InterruptedException {
        Plan first;
        do {
            first = stalled.poll(SECONDS, TimeUnit.SECONDS);
            if (first == null || openSteps() == 0) {
                throw new AssertionError("nobody waits");
            }
        } while (first.number < number);
        return first;
    }

    private void closeWhileCallersWait(int first, int port) throws Exception {
        List<Future<String>> answers = started(first, TOGETHER, true, port);
        Plan left = firstStalled(first);
        left.leave();
        gate.close();
        for (int number = first; number < first + TOGETHER; number++) {
            if (number == left.number) {
                continue;
            }
            String text = answers.get(number - first).get(SECONDS, TimeUnit.SECONDS);
            // On a busy machine, the issuer's time can be over before the gate is closed.
            if (!text.isEmpty() && !text.startsWith("HTTP/1.1 403") && !text.startsWith("HTTP/1.1 401")) {
                throw new AssertionError("after the end of the gate: " + text);
            }
        }
        awaitNoStep("after the end of the gate");
    }

    /** The steps that nobody has ended, of all gates. */
    static int openSteps() {
        return Library.ABI.call("orbgate_step_count");
    }

    static void awaitNoStep(String when) throws InterruptedException {
        int open = openSteps();
        // A handler, and a report to the gate, can come after the answer.
        for (long end = end(); open > 0 && System.nanoTime() < end; open = openSteps()) {
            Thread.sleep(20);
        }
        if (open > 0) {
            throw new AssertionError(open + " steps are open " + when);
        }
    }

    private static long end() {
        return System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
    }

    @Override
    public void close() throws IOException {
        plans.values().forEach(plan -> plan.released.countDown());
        gate.close();
        opaque.stop(0);
        issuer.close();
        threads.shutdownNow();
        Files.delete(folder.resolve("secret"));
        Files.delete(policy);
        Files.delete(folder);
    }
}
