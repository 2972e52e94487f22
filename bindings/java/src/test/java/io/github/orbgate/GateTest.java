package io.github.orbgate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.net.CookieManager;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.logging.LogRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;

/** The gate, over real tokens; what every language's gate must answer is in policy/cases/gate. */
class GateTest extends WithIssuer {
    private final Map<String, Integer> counts = new ConcurrentHashMap<>();
    private final List<String> audit = new ArrayList<>();
    private final Handle policy = new Handle(Engine.external());
    private final Gate gate = Gate.builder(policy, issuer.tokens())
            .count((counter, labels) -> counts.merge(counter + labels.getOrDefault("reason", labels.getOrDefault("result", "")), 1, Integer::sum))
            .audit(audit::add)
            .build();

    static GateRequest get(String target, String... authorization) {
        return new GateRequest("GET", target, Map.of("authorization", List.of(authorization)));
    }

    @Test
    void anAnswerSaysAllThatIsKnown() {
        Answer allowed = gate.ask(get(ORBS + "?x=1", reader));
        assertTrue(allowed.isAllow());
        assertEquals(0, allowed.httpStatus());
        assertEquals(Optional.of("GET " + ORBS), allowed.decision().route());
        BearerToken token = allowed.call().orElseThrow().token();
        assertEquals(TokenKind.USER, token.kind());
        assertEquals("read:orbs", token.scopes());
        assertEquals(Optional.of("subject"), token.subject());
        assertEquals(Optional.of("client"), token.client());
        assertEquals(Optional.empty(), token.actor());
        assertEquals(16, token.fingerprint().length());
        assertTrue(token.expires().isAfter(java.time.Instant.now()));
        assertEquals(1, audit.size());
        assertTrue(audit.get(0).contains(token.fingerprint()), audit.get(0));
        assertFalse((audit + allowed.toString()).contains(reader.substring(reader.length() - 20)), "it shows the token");
    }

    @Test
    void aHeaderThatOverridesTheMethodIsRefused() {
        Map<String, List<String>> headers = new HashMap<>(Map.of("Authorization", List.of(reader), "Host", List.of("a")));
        assertTrue(gate.ask(new GateRequest("GET", ORBS, headers)).isAllow());
        headers.put("X-HTTP-Method-Override", List.of("DELETE"));
        GateRequest request = new GateRequest("GET", ORBS, headers);
        assertFalse(gate.ask(request).isAllow());
        try (Gate careless = Gate.builder(policy, issuer.tokens()).ignoreMethodOverride().build()) {
            assertTrue(careless.ask(request).isAllow());
        }
    }

    @Test
    void everyHeaderReachesTheGate() {
        Map<String, List<String>> headers = Map.of(
                "origin", List.of("https://a.example"),
                "UPGRADE", List.of("a", "b"),
                "access-control-request-method", List.of("PUT"),
                "Http2-Settings", List.of("x"));
        GateRequest request = new GateRequest("GET", ORBS, headers).matched("/a").bonus(BonusOrbs.ALLOW);
        assertEquals(List.of("https://a.example"), request.origin());
        assertEquals(List.of("a", "b"), request.upgrade());
        assertEquals(List.of("PUT"), request.accessControlRequestMethod());
        assertEquals(List.of(), request.authorization());
        assertEquals(headers.keySet(), Set.copyOf(request.headerNames()));
    }

    @Test
    void aRouterThatDisagreesIsRefusedAndCounted() {
        assertTrue(gate.ask(get(ORBS, reader).matched(ORBS)).isAllow());
        assertEquals(null, counts.get("orbgate_misrouted_total"));
        for (String matched : List.of("/api/v1/external/account", "")) {
            assertEquals(404, gate.ask(get(ORBS, reader).matched(matched)).httpStatus());
        }
        assertEquals(2, counts.get("orbgate_misrouted_total"));
    }

    @Test
    void aRouteAndATemplateAreComparedOnce() {
        Answer allowed = gate.ask(get(ORBS, reader));
        Call call = allowed.call().orElseThrow();
        Map<String, Integer> before = Map.copyOf(counts);
        for (int again = 0; again < 2; again++) {
            assertTrue(gate.askAgain(get(ORBS, reader).matched(ORBS), call).isAllow());
            assertEquals(1, audit.size());
            assertEquals(before, counts);
        }
        // It is not asked about again, not even with another token, but nothing else counts as compared.
        assertTrue(gate.askAgain(get(ORBS).matched(ORBS), call).isAllow());
        for (GateRequest other : List.of(get(ORBS, reader).matched(""), get(ORBS, reader).matched(ORBS + "/{id}"), get(ORBS))) {
            assertFalse(gate.askAgain(other, call).isAllow());
        }
        assertEquals(4, audit.size());
        assertEquals(2, counts.get("orbgate_misrouted_total"));
        assertEquals(2, counts.get("orbgate_decisions_totalno_route"));
        Call orders = gate.ask(get("/api/v1/external/account", issuer.bearer(TokenKind.USER, "read:account"))).call().orElseThrow();
        assertFalse(gate.askAgain(get(ORBS, reader).matched("/api/v1/external/voxies"), orders).isAllow());
        // If a later policy allows the route that the router has taken, that is not another call.
        try (Engine next = Engine.fromYaml("orbgate: 1\napis: { a: { base_path: '', scopes: { 'read:orbs': { orbs: false,"
                + " routes: ['GET /api/{v}/external/orbs'] } } } }\n")) {
            policy.store(next);
        }
        before = Map.copyOf(counts);
        assertTrue(gate.askAgain(get(ORBS, reader).matched("/api/{v}/external/orbs"), call).isAllow());
        assertEquals(before, counts);
        // A policy that replaces the one that decided does not change what the router has to do.
        try (Engine next = Engine.fromYaml("orbgate: 1\napis: {}\n")) {
            policy.store(next);
        }
        assertTrue(gate.askAgain(get("/", reader).matched("/api/v1/external/account"), orders).isAllow());
    }

    @Test
    void threadsThatCompareARouteAtOnceAllAgree() throws Exception {
        Call call = gate.ask(get(ORBS, reader)).call().orElseThrow();
        // This policy allows nothing, so whoever asked again would be denied.
        try (Engine next = Engine.fromYaml("orbgate: 1\napis: {}\n")) {
            policy.store(next);
        }
        int threads = 4;
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            for (int round = 0; round < 300; round++) {
                try (Gate fresh = Gate.of(policy, issuer.tokens())) {
                    CyclicBarrier start = new CyclicBarrier(threads);
                    List<Callable<Boolean>> compare = Collections.nCopies(threads, () -> {
                        start.await();
                        return fresh.askAgain(get(ORBS, reader).matched(ORBS), call).isAllow();
                    });
                    for (Future<Boolean> agrees : pool.invokeAll(compare)) {
                        assertTrue(agrees.get(), "round " + round);
                    }
                }
            }
        } finally {
            pool.shutdownNow();
        }
    }

    @Test
    void templatesAgreeAsTheLibraryComparesThem() {
        String route = "GET /it's/{a}/{b}";
        for (String same : List.of("/it's/{a}/{b}", "/it's/{x}/{y:[0-9]+}")) {
            assertTrue(Routes.agree(route, same), same);
        }
        for (String other : List.of("/it's/{a}/b", "/it's/{a}/{*b}", "/it's/{a}/{b}/", "/it's/{a}", "/its/{a}/{b}", "/it's/**", "", "/")) {
            assertFalse(Routes.agree(route, other), other);
        }
        assertTrue(Routes.agree("GET /", "/"));
        // Routes of a policy whose paths end in a slash.
        assertTrue(Routes.agree("GET /items/{id}/", "/items/{x}/"));
        for (String other : List.of("/items/{x}", "/items/{x}//", "/items/", "/")) {
            assertFalse(Routes.agree("GET /items/{id}/", other), other);
        }
    }

    @Test
    void noAnswerDependsOnHooks() throws Exception {
        Map<String, Integer> logged = new ConcurrentHashMap<>();
        java.util.logging.Handler broken = new java.util.logging.Handler() {
            @Override
            public void publish(LogRecord line) {
                logged.merge(line.getMessage().split(",")[0], 1, Integer::sum);
                throw new IllegalStateException("the disk is full");
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
        java.util.logging.Logger logger = java.util.logging.Logger.getLogger(Gate.class.getName());
        logger.addHandler(broken);
        Map<String, Integer> lost = new ConcurrentHashMap<>();
        try (Gate hooked = Gate.builder(policy, issuer.tokens())
                .count((counter, labels) -> {
                    lost.merge(counter, 1, Integer::sum);
                    throw new NoClassDefFoundError("an error of the counter");
                })
                .audit(line -> {
                    throw new IllegalStateException("an error of the audit");
                })
                .build()) {
            assertTrue(hooked.ask(get(ORBS, reader)).isAllow());
            assertEquals(401, hooked.ask(get(ORBS)).httpStatus());
            for (int round = 0; round < 2; round++) {
                assertEquals(404, hooked.ask(get(ORBS, reader).matched("")).httpStatus());
            }
            assertThrows(java.nio.file.NoSuchFileException.class, () -> hooked.reload(Path.of("/no/such/policy.yaml")));
            assertEquals(4, lost.get("orbgate_audit_lost_total"));
            try (Engine now = policy.load()) {
                hooked.check(now);
            }
            assertEquals(5, logged.size(), logged::toString);
            for (String subject : List.of("counted", "audit", "router", "policy stays active", "charging: no ledger")) {
                assertEquals(List.of(1), logged.entrySet().stream().filter(line -> line.getKey().contains(subject)).map(Map.Entry::getValue).toList(), subject);
            }
        } finally {
            logger.removeHandler(broken);
        }
        HttpClient throwing = HttpClient.newBuilder()
                .executor(task -> {
                    throw new RejectedExecutionException("no more threads");
                })
                .build();
        try (Gate fetching = Gate.builder(policy, issuer.tokens()).client(throwing).build()) {
            assertEquals(Optional.of("no_keys"), fetching.ask(get(ORBS, reader)).refused());
            assertEquals(0, fetching.warm().get(0).count());
        }
    }

    @Test
    void optionsChangeTheAnswer() {
        Challenge challenge = new Challenge(Challenge.Extent.FULL, Optional.of("shop"), Optional.empty());
        try (Gate full = Gate.builder(policy, issuer.tokens()).challenge(challenge).build();
                Gate flat = Gate.builder(policy, issuer.tokens()).flat403().build()) {
            String says = full.ask(get("/api/v1/external/account", reader)).wwwAuthenticate().orElseThrow();
            assertTrue(says.contains("realm=\"shop\"") && says.contains("insufficient_scope"), says);
            assertEquals(403, flat.ask(get("/nowhere", reader)).httpStatus());
        }
        Challenge unfit = new Challenge(Challenge.Extent.FULL, Optional.of("\""), Optional.empty());
        Gate.Builder builder = Gate.builder(policy, issuer.tokens()).challenge(unfit);
        assertThrows(ConfigurationException.class, builder::build);
        HttpClient follows = HttpClient.newBuilder().followRedirects(HttpClient.Redirect.NORMAL).build();
        assertThrows(IllegalArgumentException.class, () -> Gate.builder(policy, issuer.tokens()).client(follows));
        HttpClient remembers = HttpClient.newBuilder().cookieHandler(new CookieManager()).build();
        assertThrows(IllegalArgumentException.class, () -> Gate.builder(policy, issuer.tokens()).client(remembers));
    }

    @Test
    void aConfigurationNamesItsErrors() {
        String tokens = "orbgate_token: 1\nissuers:\n  - issuer: https://a.example\n    colour: red\n";
        ConfigurationException problem = assertThrows(ConfigurationException.class, () -> Gate.of(policy, tokens));
        assertTrue(problem.diagnostics().stream().anyMatch(diagnostic -> diagnostic.line() == 4 && diagnostic.message().contains("colour")));
    }

    @Test
    void routesAreCompared() {
        List<ServiceRoute> routes = new ArrayList<>();
        try (Engine engine = policy.load()) {
            engine.routes().forEach(route -> routes.add(new ServiceRoute(route.method(), route.template())));
        }
        gate.checkRoutes(routes);
        ServiceRoute first = routes.remove(0);
        routes.add(new ServiceRoute("GET", "/api/v1/external/voxies/export"));
        RoutesException differ = assertThrows(RoutesException.class, () -> gate.checkRoutes(routes));
        assertEquals(List.of(first.method() + " " + first.template()), differ.unserved());
        assertEquals("GET /api/v1/external/voxies/export", differ.undeclared().get(0).route());
        assertTrue(differ.undeclared().get(0).decidedAs().orElseThrow().startsWith("GET /api/v1/external/voxies/{"));
        List<String> lines = differ.getMessage().lines().toList();
        assertEquals(3, lines.size());
        String undeclared = ".*`GET /api/v1/external/voxies/export`.*`GET /api/v1/external/voxies/\\{.*";
        assertTrue(lines.stream().anyMatch(line -> line.matches(undeclared)), differ.getMessage());
    }

    @Test
    void publicRoutesNeedNoToken() {
        List<String> routes = List.of("GET /healthz", "GET /docs/{page}");
        Map<String, Integer> seen = new ConcurrentHashMap<>();
        Handle own = new Handle(Engine.external());
        try (Gate open = Gate.builder(own, issuer.tokens())
                .publicRoutes(routes)
                .corsPreflight(CorsPreflight.PASS)
                .count((counter, labels) -> seen.merge(String.valueOf(labels.get("reason")), 1, Integer::sum))
                .build()) {
            Call call = open.ask(get("/healthz")).call().orElseThrow();
            assertEquals(Reason.PUBLIC_ROUTE, call.decision().reason());
            assertEquals(Optional.of("/healthz"), call.publicTemplate());
            assertEquals(Optional.empty(), call.decision().route().or(call.decision()::scope));
            assertEquals(Optional.empty(), call.bearer());
            assertThrows(IllegalStateException.class, call::token);
            assertEquals(401, open.ask(new GateRequest("HEAD", "/healthz", Map.of())).httpStatus());
            assertEquals(400, open.ask(get("/docs//")).httpStatus());
            // At the handler: the same template, and no other.
            Call page = open.ask(get("/docs/a")).call().orElseThrow();
            assertTrue(open.askAgain(get("/docs/a").matched("/docs/{x}"), page).isAllow());
            assertFalse(open.askAgain(get("/docs/a").matched("/docs/a"), page).isAllow());
            assertFalse(open.askAgain(get("/docs/a").matched("/api/v1/external/orbs"), page).isAllow());
            // A preflight asks about a route, and passes if that is declared.
            Answer preflight = open.ask(preflight(ORBS, "GET"));
            assertTrue(preflight.isAllow() && preflight.preflight());
            assertTrue(preflight.call().orElseThrow().preflight());
            assertFalse(open.ask(preflight(ORBS, "PUT")).preflight());
            assertFalse(page.preflight() || open.askAgain(get("/docs/a").matched("/docs/{x}"), page).preflight());
            assertEquals(401, open.ask(preflight(ORBS, "PUT")).httpStatus());
            assertEquals(401, gate.ask(preflight(ORBS, "GET")).httpStatus());
            assertEquals(3, seen.get("public_route"), seen.toString());

            List<ServiceRoute> service = new ArrayList<>();
            try (Engine engine = own.load()) {
                engine.routes().forEach(route -> service.add(new ServiceRoute(route.method(), route.template())));
            }
            assertThrows(RoutesException.class, () -> open.checkRoutes(service));
            service.add(new ServiceRoute("GET", "/healthz"));
            service.add(new ServiceRoute("GET", "/docs/{name}"));
            open.checkRoutes(service);
        }
        Gate.Builder overlaps = Gate.builder(policy, issuer.tokens()).publicRoutes(List.of("GET /api/v1/external/{any}"));
        assertThrows(ConfigurationException.class, overlaps::build);
        assertThrows(ConfigurationException.class, Gate.builder(policy, issuer.tokens()).publicRoutes(List.of("healthz"))::build);
    }

    private static GateRequest preflight(String target, String method) {
        return new GateRequest("OPTIONS", target, Map.of(
                "Origin", List.of("https://app.example"), "Access-Control-Request-Method", List.of(method)));
    }

    @Test
    void onlyAWholePolicyIsReloaded(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("policy.yaml");
        assertThrows(IOException.class, () -> gate.reload(file));
        Files.writeString(file, "orbgate: 2\n");
        assertThrows(PolicyException.class, () -> gate.reload(file));
        Files.writeString(file, EngineTest.POLICY);
        assertThrows(PolicyException.class, () -> gate.reload(file));
        assertTrue(gate.ask(get(ORBS, reader)).isAllow());
        Files.writeString(file, EngineTest.POLICY + "...\n");
        gate.reload(file);
        assertEquals(404, gate.ask(get(ORBS, reader)).httpStatus());
        for (String result : new String[] {"unreadable", "refused", "unfinished", "loaded"}) {
            assertEquals(1, counts.get("orbgate_policy_loads_total" + result), result);
        }
    }

    @Test
    void keysAreFetchedForgottenAndRevoked() throws Exception {
        IssuerKeys none = gate.keys().get(0);
        assertEquals(0, none.count());
        assertEquals(Optional.empty(), none.age());
        IssuerKeys there = gate.warm().get(0);
        assertEquals(1, there.count());
        assertTrue(there.age().orElseThrow().toMinutes() < 1, there.toString());
        gate.forget(there.issuer());
        assertEquals(0, gate.keys().get(0).count());
        assertThrows(NoSuchElementException.class, () -> gate.forget("https://nobody.example"));
        try (Gate other = Gate.of(policy, issuer.tokens())) {
            other.warm();
            other.revoke(there.issuer(), "test");
            assertEquals(Optional.of("key_revoked"), other.ask(get(ORBS, reader)).refused());
        }
    }

    @Test
    void failuresOfFetchesHaveTheirCodes() {
        assertEquals(Layout.FETCH_TIMEOUT, Keys.failure(new java.util.concurrent.TimeoutException()));
        assertEquals(Layout.FETCH_TIMEOUT, Keys.failure(new java.net.http.HttpConnectTimeoutException("slow")));
        assertEquals(Layout.FETCH_TOO_LARGE, Keys.failure(new IOException(new LimitedBody.TooLargeException(1))));
        assertEquals(Layout.FETCH_UNREACHABLE, Keys.failure(new java.net.ConnectException("refused")));
    }

    /** Answers as the issuer does. */
    private static void sendKeys(HttpExchange exchange) throws IOException {
        String url = issuer.tokens().replaceAll("(?s).*(http://127\\.0\\.0\\.1:\\d+/jwks).*", "$1");
        try (InputStream keys = URI.create(url).toURL().openStream()) {
            byte[] body = keys.readAllBytes();
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
        }
        exchange.close();
    }

    /** An issuer whose keys come late, and in the meantime another policy. */
    @Test
    void thePolicyThatIsInForceAfterAWaitDecides() throws Exception {
        CountDownLatch isAsked = new CountDownLatch(1);
        CountDownLatch mayAnswer = new CountDownLatch(1);
        HttpServer slow = plain();
        slow.createContext("/", exchange -> {
            try {
                isAsked.countDown();
                mayAnswer.await();
                sendKeys(exchange);
            } catch (InterruptedException ended) {
                exchange.close();
            }
        });
        slow.start();
        String tokens = issuer.tokens()
                .replaceAll("127\\.0\\.0\\.1:\\d+/jwks", "127.0.0.1:" + slow.getAddress().getPort() + "/jwks");
        try (Gate waits = Gate.of(policy, tokens)) {
            FutureTask<Answer> asks = new FutureTask<>(() -> waits.ask(get(ORBS, reader)));
            long start = System.nanoTime();
            new Thread(asks).start();
            isAsked.await();
            // A thread waits for keys during the first second of a fetch. A busy machine might need longer for what follows.
            BooleanSupplier isLate = () -> System.nanoTime() - start >= TimeUnit.SECONDS.toNanos(1);
            // Callers that go away make room: as many as ever may wait.
            for (int gone = 0; gone < 1_100; gone++) {
                Thread.currentThread().interrupt();
                int status = waits.ask(get(ORBS, reader)).httpStatus();
                assertTrue(status == 403 || (status == 401 && isLate.getAsBoolean()), "status " + status);
                assertTrue(Thread.interrupted() || isLate.getAsBoolean());
            }
            Thread late = new Thread(() -> waits.ask(get(ORBS, reader)));
            late.start();
            Thread.State state = late.getState();
            while (state != Thread.State.TIMED_WAITING && state != Thread.State.TERMINATED) {
                state = late.getState();
            }
            assertTrue(state == Thread.State.TIMED_WAITING || isLate.getAsBoolean());
            try (Engine next = Engine.fromYaml(EngineTest.POLICY)) {
                policy.store(next);
                mayAnswer.countDown();
                Decision decision = asks.get(4, TimeUnit.SECONDS).decision();
                assertEquals(next.digest(), decision.policy());
                assertEquals(Reason.NO_ROUTE, decision.reason());
            }
        } finally {
            mayAnswer.countDown();
            slow.stop(0);
        }
    }

    /** An issuer that takes connections and says nothing. */
    private static String silent(ServerSocket socket) {
        return issuer.tokens().replaceAll("127\\.0\\.0\\.1:\\d+/jwks", "127.0.0.1:" + socket.getLocalPort() + "/jwks");
    }

    @Test
    void aClosedGateDeniesAlsoWhoWaits() throws Exception {
        try (ServerSocket socket = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
            Gate waits = Gate.of(policy, silent(socket));
            FutureTask<Answer> asks = new FutureTask<>(() -> waits.ask(get(ORBS, reader)));
            new Thread(asks).start();
            Socket fetch = socket.accept();
            waits.close();
            fetch.setSoTimeout(4_000);
            while (fetch.getInputStream().read() >= 0) {
                // The end comes with the gate's, and not with the time that a fetch may take.
            }
            assertEquals(403, asks.get(4, TimeUnit.SECONDS).httpStatus());
            assertEquals(403, waits.ask(get(ORBS, reader)).httpStatus());
            assertThrows(IllegalStateException.class, waits::keys);
            waits.close();
        }
    }

    @Test
    void aFetchThatBeginsWhileTheGateClosesEnds() throws Exception {
        try (ServerSocket socket = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
            socket.setSoTimeout(20_000);
            CompletableFuture<Socket> fetch = new CompletableFuture<>();
            Gate[] gate = new Gate[1];
            // The first task may start others before it has connected: they don't accept.
            AtomicBoolean isFirst = new AtomicBoolean(true);
            // The client runs its first task before it returns what can be cancelled: by then the gate is closed.
            HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).executor(task -> {
                new Thread(task).start();
                if (isFirst.getAndSet(false)) {
                    try {
                        fetch.complete(socket.accept());
                    } catch (IOException failed) {
                        throw new UncheckedIOException(failed);
                    }
                    gate[0].close();
                }
            }).build();
            gate[0] = Gate.builder(policy, silent(socket)).client(client).build();
            assertEquals(403, gate[0].ask(get(ORBS, reader)).httpStatus());
            Socket accepted = fetch.get(4, TimeUnit.SECONDS);
            accepted.setSoTimeout(4_000);
            while (accepted.getInputStream().read() >= 0) {}
        }
    }

    @Test
    void aLoggerThatThrowsIsQuiet() {
        System.Logger throwing = (System.Logger) Proxy.newProxyInstance(getClass().getClassLoader(),
                new Class<?>[] {System.Logger.class}, (proxy, method, arguments) -> {
                    throw new NoClassDefFoundError("a part of the logger");
                });
        System.Logger quiet = new QuietLogger(throwing);
        assertFalse(quiet.isLoggable(System.Logger.Level.ERROR));
        quiet.log(System.Logger.Level.ERROR, "a message");
        quiet.log(System.Logger.Level.ERROR, "a message", new IllegalStateException("a cause"));
    }

    @Test
    void anInterruptEndsAWait() throws Exception {
        try (ServerSocket socket = new ServerSocket(0, 8, InetAddress.getLoopbackAddress());
                Gate waits = Gate.of(policy, silent(socket))) {
            CountDownLatch isInterrupted = new CountDownLatch(1);
            FutureTask<Answer> asks = new FutureTask<>(() -> {
                Answer answer = waits.ask(get(ORBS, reader));
                if (Thread.interrupted()) {
                    isInterrupted.countDown();
                }
                return answer;
            });
            Thread thread = new Thread(asks);
            thread.start();
            Socket fetch = socket.accept();
            thread.interrupt();
            assertEquals(403, asks.get(4, TimeUnit.SECONDS).httpStatus());
            assertTrue(isInterrupted.await(1, TimeUnit.SECONDS));
            // The fetch goes on, and its connection is closed at the end of its time.
            fetch.setSoTimeout(60_000);
            while (fetch.getInputStream().read() >= 0) {}
        }
    }

    @Test
    void keysAreUsedForAsLongAsTheirIssuerSays() throws Exception {
        for (Map.Entry<String, Boolean> each : Map.of("max-age=60", true, "public", false).entrySet()) {
            HttpServer server = plain();
            server.createContext("/", exchange -> {
                exchange.getResponseHeaders().add("Cache-Control", each.getKey());
                sendKeys(exchange);
            });
            server.start();
            try {
                String tokens = issuer.tokens().replaceAll("127\\.0\\.0\\.1:\\d+/jwks", "127.0.0.1:" + server.getAddress().getPort() + "/jwks");
                NativeGate nativeGate = nativeGate(tokens);
                Keys keys = new Keys(nativeGate, HttpClient.newHttpClient(), System.getLogger("test"));
                nativeGate.ask(0, new Messages.Warm());
                keys.fetch();
                keys.awaitAll();
                Messages.Ask ask = get(ORBS, reader).question();
                ask.unixMs = System.currentTimeMillis();
                ask.monotonicMs = keys.now() + 61_000;
                Messages.NextCall next = new Messages.NextCall();
                next.monotonicMs = ask.monotonicMs;
                policy.during((engine, table) -> nativeGate.ask(engine, ask));
                assertEquals(each.getValue(), nativeGate.ask(0, next) instanceof Messages.Call, each.getKey());
                nativeGate.close();
            } finally {
                server.stop(0);
            }
        }
    }

    private static NativeGate nativeGate(String tokens) {
        Messages.Make make = new Messages.Make();
        make.tokens = tokens.getBytes();
        return new NativeGate(make);
    }

    /** A hundred virtual threads wait for keys over one carrier, and one more needs none. */
    static final class Carrier {
        public static void main(String[] arguments) throws Exception {
            start();
            try (ServerSocket socket = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
                Gate waits = Gate.of(new Handle(Engine.external()), silent(socket));
                var startVirtual = Thread.class.getMethod("startVirtualThread", Runnable.class);
                for (int each = 0; each < 100; each++) {
                    startVirtual.invoke(null, (Runnable) () -> waits.ask(get(ORBS, reader)));
                }
                socket.accept();
                CountDownLatch answered = new CountDownLatch(1);
                startVirtual.invoke(null, (Runnable) () -> {
                    if (waits.ask(get(ORBS)).httpStatus() == 401) {
                        answered.countDown();
                    }
                });
                System.out.println(answered.await(3, TimeUnit.SECONDS));
            }
            System.exit(0);
        }
    }

    @Test
    @EnabledForJreRange(min = JRE.JAVA_21)
    void whoWaitsLeavesTheCarrierToOthers() throws Exception {
        List<String> printed = LibraryTest.printed(
                Carrier.class,
                System.getProperty("java.class.path"),
                "-Dorbgate.library=" + Library.path(),
                "-Djdk.virtualThreadScheduler.parallelism=1",
                "-Djdk.virtualThreadScheduler.maxPoolSize=1");
        assertEquals(List.of("true"), printed);
    }

    static HttpServer plain() throws IOException {
        return HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    }

    @Test
    void aGateCanBeFaked() {
        Guard fake = request -> Answer.of(
                request.method().equals("GET") ? Reason.SCOPE_HELD : Reason.SCOPE_MISSING,
                BearerToken.of(TokenKind.USER, "read:orbs"));
        assertEquals("read:orbs", fake.ask(get("/")).call().orElseThrow().token().scopes());
        Answer denied = fake.ask(new GateRequest("PUT", "/", Map.of()));
        assertEquals(403, denied.httpStatus());
        assertEquals(Optional.empty(), denied.call());
        Answer withoutToken = Answer.of(Decision.of(Reason.SCOPE_HELD), new Messages.Answer(Wire.Reader.empty()), Optional.empty());
        assertEquals(403, withoutToken.httpStatus());
        Optional<BearerToken> token = Optional.of(BearerToken.of(TokenKind.USER, ""));
        Answer withoutAllow = Answer.of(Decision.of(Reason.SCOPE_MISSING), new Messages.Answer(Wire.Reader.empty()), token);
        assertEquals(403, withoutAllow.httpStatus());
        assertEquals(Optional.empty(), withoutAllow.call());
    }

    @Test
    void aBodySaysWhetherItAllowsBonusOrbs() {
        assertEquals(BonusOrbs.ALLOW, BonusOrbs.in("{\"allowBonusOrbsUse\": true}".getBytes()));
        assertEquals(BonusOrbs.REFUSE, BonusOrbs.in("{\"allowBonusOrbsUse\": \"true\"}".getBytes()));
        assertEquals(BonusOrbs.REFUSE, BonusOrbs.in(new byte[0]));
        String run = "/api/v1/external/voxies/prompt/run";
        GateRequest request =
                new GateRequest("POST", run, Map.of("Authorization", List.of(issuer.bearer(TokenKind.USER, "write:voxies"))));
        for (BonusOrbs bonus : BonusOrbs.values()) {
            Charge charge = gate.ask(request.bonus(bonus)).decision().charge().orElseThrow();
            assertEquals(bonus == BonusOrbs.ALLOW, charge.bonusAllowed());
            gate.ask(request, () -> bonus);
        }
        List<String> read = List.of("false", "false", "true", "true", "null", "null");
        for (int at = 0; at < read.size(); at++) {
            assertTrue(audit.get(at).contains("\"bonus_allowed\":" + read.get(at)), audit.get(at));
        }
        assertEquals(read.size(), audit.size());
    }
}
