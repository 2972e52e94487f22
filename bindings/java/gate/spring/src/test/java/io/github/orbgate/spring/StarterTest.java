package io.github.orbgate.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.orbgate.Answer;
import io.github.orbgate.BearerToken;
import io.github.orbgate.BonusOrbs;
import io.github.orbgate.Gate;
import io.github.orbgate.Guard;
import io.github.orbgate.Reason;
import io.github.orbgate.RoutesException;
import io.github.orbgate.TokenKind;
import io.github.orbgate.servlet.GateFilter;
import io.github.orbgate.testing.TestIssuer;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.websocket.OnMessage;
import jakarta.websocket.server.ServerEndpoint;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.RecordComponent;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.SocketAddress;
import java.net.URI;
import java.net.URL;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.stereotype.Controller;
import org.springframework.web.bind.annotation.CrossOrigin;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.socket.TextMessage;
import org.springframework.web.socket.WebSocketSession;
import org.springframework.web.socket.config.annotation.EnableWebSocket;
import org.springframework.web.socket.config.annotation.WebSocketConfigurer;
import org.springframework.web.socket.config.annotation.WebSocketHandlerRegistry;
import org.springframework.web.socket.handler.TextWebSocketHandler;
import org.springframework.web.socket.server.standard.ServerEndpointExporter;

/** An application of Spring Boot with the starter, over real tokens. */
class StarterTest {
    /** Without an upgrade to HTTP/2, which the gate would refuse. */
    private static final HttpClient CLIENT = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private static final String POLICY =
            """
            orbgate: 1
            apis:
              shop:
                base_path: /shop
                scopes:
                  read:orders:
                    orbs: false
                    routes: ['GET /orders', 'GET /orders/{orderId}', 'POST /orders', 'GET /unserved', 'GET /plain', 'GET /feed', 'GET /feeds/{feedId}']
                  write:runs: { orbs: true, routes: [POST /runs] }
                  admin:orders:
                    orbs: false
                    routes: ['DELETE /orders', 'GET /orders/export']
              partner:
                base_path: /partner
                scopes:
                  read:partner: { orbs: false, routes: [GET /shop/orders] }
            ...
            """;

    /** The application. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import(Orders.class)
    static class Application {
        @Bean
        MeterRegistry registry() {
            return new SimpleMeterRegistry();
        }
    }

    /** Its controller. */
    @RestController
    static class Orders {
        @GetMapping("/shop/orders")
        String all(HttpServletRequest request) {
            return GateFilter.allowed(request).token().subject().orElse("nobody");
        }

        @PostMapping("/shop/orders")
        Callable<String> create() {
            return () -> "created";
        }

        @PostMapping("/shop/runs")
        String run(HttpServletRequest request, @RequestBody(required = false) String body) {
            return GateFilter.allowed(request).decision().charge().orElseThrow().bonusAllowed() + Optional.ofNullable(body).orElse("");
        }

        @DeleteMapping("/shop/orders")
        String deleteAll() {
            return "deleted";
        }

        @GetMapping("/shop/orders/{id}")
        String one() {
            return "one";
        }
    }

    /** A route that the policy lacks, and decides as another. */
    @RestController
    static class Summary {
        @GetMapping("/shop/orders/summary")
        String summary() {
            return "all";
        }
    }

    /** A route for which the readers lack the scope. */
    @RestController
    static class Export {
        @GetMapping("/shop/orders/export")
        String export() {
            return "all";
        }
    }

    /** A handler that forwards; a servlet beside Spring's. */
    @Controller
    static class Others {
        @GetMapping("/shop/unserved")
        String forward() {
            return "forward:/shop/orders/1";
        }

        @Bean
        ServletRegistrationBean<HttpServlet> plain() {
            return new ServletRegistrationBean<>(
                    new HttpServlet() {
                        private static final long serialVersionUID = 1;

                        @Override
                        protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException {
                            response.getOutputStream().print("plain");
                        }
                    },
                    "/shop/plain");
        }
    }

    /** A filter that obeys a header, without an order of its own. */
    @Configuration(proxyBeanMethods = false)
    static class Rewriting {
        @Bean
        Filter rewriting() {
            return (request, response, chain) -> {
                HttpServletRequest http = (HttpServletRequest) request;
                if (http.getHeader("fail") != null) {
                    ((HttpServletResponse) response).sendError(418);
                } else if (http.getHeader("rewrite") != null) {
                    chain.doFilter(
                            new HttpServletRequestWrapper(http) {
                                @Override
                                public String getRequestURI() {
                                    return getHeader("rewrite");
                                }
                            },
                            response);
                } else if (http.getHeader("forward") != null) {
                    request.getRequestDispatcher(http.getHeader("forward")).forward(request, response);
                } else {
                    chain.doFilter(request, response);
                }
            };
        }
    }

    /** WebSockets in both ways: of Spring's dispatcher, and of the container. */
    @Configuration(proxyBeanMethods = false)
    @EnableWebSocket
    static class Sockets implements WebSocketConfigurer {
        @Override
        public void registerWebSocketHandlers(WebSocketHandlerRegistry registry) {
            registry.addHandler(
                    new TextWebSocketHandler() {
                        @Override
                        protected void handleTextMessage(WebSocketSession session, TextMessage message) throws Exception {
                            session.sendMessage(message);
                        }
                    },
                    "/shop/feed");
        }

        @Bean
        ServerEndpointExporter endpoints() {
            ServerEndpointExporter exporter = new ServerEndpointExporter();
            exporter.setAnnotatedEndpointClasses(Feed.class);
            return exporter;
        }
    }

    /** An endpoint of the container. */
    @ServerEndpoint("/shop/feeds/{id}")
    public static class Feed {
        /** Answers a message with itself. */
        @OnMessage
        public String answer(String message) {
            return message;
        }
    }

    /** Beans that replace the starter's. */
    @Configuration(proxyBeanMethods = false)
    static class Replaced {
        static final List<URI> FETCHED = Collections.synchronizedList(new ArrayList<>());

        @Bean
        HttpClient orbgateClient() {
            ProxySelector selector = new ProxySelector() {
                @Override
                public List<Proxy> select(URI url) {
                    FETCHED.add(url);
                    return List.of(Proxy.NO_PROXY);
                }

                @Override
                public void connectFailed(URI url, SocketAddress address, IOException problem) {}
            };
            return HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).proxy(selector).build();
        }

        @Bean
        GateAutoConfiguration.RequestBonus bonus() {
            return request -> request.getHeader("bonus") == null ? BonusOrbs.REFUSE : BonusOrbs.ALLOW;
        }
    }

    /** A filter with the highest precedence, which answers everything. */
    @Configuration(proxyBeanMethods = false)
    static class Highest {
        @Bean
        FilterRegistrationBean<Filter> highest() {
            FilterRegistrationBean<Filter> filter = new FilterRegistrationBean<>((request, response, chain) -> {});
            filter.setOrder(Ordered.HIGHEST_PRECEDENCE);
            return filter;
        }
    }

    /** A mapping that takes no interceptors. */
    @Configuration(proxyBeanMethods = false)
    static class OwnMapping {
        @Bean
        HandlerMapping own() {
            return request -> null;
        }
    }

    /** A gate for a test of the application. */
    @Configuration(proxyBeanMethods = false)
    static class Faked {
        @Bean
        Guard gate() {
            return request -> Answer.of(
                    request.target().endsWith("/2") ? Reason.SCOPE_MISSING : Reason.SCOPE_HELD,
                    BearerToken.of(TokenKind.USER, "read:orders"));
        }
    }

    @TempDir
    private Path folder;

    private TestIssuer issuer;
    private ConfigurableApplicationContext context;

    @BeforeEach
    void issue() throws Exception {
        issuer = new TestIssuer();
        Files.writeString(folder.resolve("policy.yaml"), POLICY);
        Files.writeString(folder.resolve("tokens.yaml"), issuer.tokens());
    }

    @AfterEach
    void end() {
        issuer.close();
        if (context != null) {
            context.close();
        }
    }

    private void start(List<Class<?>> more, String... properties) {
        List<Class<?>> sources = new ArrayList<>(more);
        sources.add(Application.class);
        List<String> arguments = new ArrayList<>(List.of(properties));
        arguments.addAll(List.of("--server.port=0", "--spring.main.banner-mode=off", "--logging.level.root=warn"));
        SpringApplication application = new SpringApplication(sources.toArray(Class<?>[]::new));
        context = application.run(arguments.toArray(String[]::new));
    }

    private void startReal(List<Class<?>> more, String... properties) {
        List<String> all = new ArrayList<>(List.of(properties));
        all.add("--orbgate.policy=file:" + folder.resolve("policy.yaml"));
        all.add("--orbgate.tokens=file:" + folder.resolve("tokens.yaml"));
        start(more, all.toArray(String[]::new));
    }

    private HttpResponse<String> get(String target, Optional<String> bearer) throws Exception {
        return send("GET", target, bearer);
    }

    private HttpResponse<String> send(String method, String target, Optional<String> bearer, String... headers) throws Exception {
        return send("local.server.port", method, target, bearer, headers);
    }

    private HttpResponse<String> send(
            String port, String method, String target, Optional<String> bearer, String... headers) throws Exception {
        String number = context.getEnvironment().getRequiredProperty(port);
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + number + target));
        request.method(method, HttpRequest.BodyPublishers.noBody());
        bearer.ifPresent(value -> request.header("Authorization", value));
        if (headers.length > 0) {
            request.headers(headers);
        }
        return CLIENT.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private double counted(String name, String label, String value) {
        return context.getBean(MeterRegistry.class).get(name).tag(label, value).counters().stream()
                .mapToDouble(Counter::count)
                .sum();
    }

    /** They show them while one writes {@code application.yaml}. */
    @Test
    void editorsKnowEveryProperty() throws Exception {
        Set<String> known = new HashSet<>();
        // Spring Boot's own jars have such a file, too.
        for (URL file : Collections.list(
                GateProperties.class.getClassLoader().getResources("META-INF/spring-configuration-metadata.json"))) {
            JsonNode metadata;
            try (InputStream json = file.openStream()) {
                metadata = new ObjectMapper().readTree(json);
            }
            for (JsonNode property : metadata.get("properties")) {
                String name = property.get("name").asText();
                if (name.startsWith("orbgate.")) {
                    known.add(name.replace("-", ""));
                    assertTrue(property.hasNonNull("description"), property.toString());
                }
            }
        }
        Set<String> real = new HashSet<>();
        for (RecordComponent property : GateProperties.class.getRecordComponents()) {
            real.add("orbgate." + property.getName().toLowerCase(Locale.ROOT));
        }
        assertEquals(real, known);
    }

    /** What needs no token. */
    @RestController
    static class Health {
        @GetMapping("/healthz")
        String health(HttpServletRequest request) {
            return GateFilter.allowed(request).publicTemplate().orElseThrow();
        }

        @CrossOrigin("https://app.example")
        @GetMapping("/shop/feeds/{feed}")
        String feed() {
            return "a feed";
        }
    }

    @Test
    void healthChecksAndPreflightsNeedNoToken() throws Exception {
        startReal(List.of(Health.class), "--orbgate.public-routes=GET /healthz", "--orbgate.cors-preflight=pass");
        assertEquals("/healthz", get("/healthz", Optional.empty()).body());
        assertEquals("/healthz", get("/healthz", Optional.of("Bearer nonsense")).body());
        assertEquals(401, get("/shop/orders", Optional.empty()).statusCode());
        String[] preflight = {"Origin", "https://app.example", "Access-Control-Request-Method", "GET"};
        HttpResponse<String> passed = send("OPTIONS", "/shop/feeds/7", Optional.empty(), preflight);
        assertEquals(200, passed.statusCode());
        assertEquals(Optional.of("https://app.example"), passed.headers().firstValue("Access-Control-Allow-Origin"));
        assertEquals(401, send("OPTIONS", "/shop/feeds/7", Optional.empty()).statusCode());
        assertEquals(401, send("OPTIONS", "/nowhere", Optional.empty(), preflight).statusCode());
    }

    @Test
    void withoutThePropertiesNobodyPassesWithoutAToken() throws Exception {
        startReal(List.of(Health.class), "--orbgate.check-routes=false");
        assertEquals(401, get("/healthz", Optional.empty()).statusCode());
        String[] preflight = {"Origin", "https://app.example", "Access-Control-Request-Method", "GET"};
        assertEquals(401, send("OPTIONS", "/shop/feeds/7", Optional.empty(), preflight).statusCode());
    }

    @Test
    void propertiesAreEnoughForAGate() throws Exception {
        startReal(List.of(), "--orbgate.challenge=full", "--orbgate.realm=shop");
        Optional<String> reader = Optional.of(issuer.bearer(TokenKind.USER, "read:orders"));
        assertEquals("subject", get("/shop/orders", reader).body());
        assertEquals("one", get("/shop/orders/1", reader).body());
        HttpResponse<String> denied = get("/shop/orders", Optional.of(issuer.bearer(TokenKind.USER, "write:orders")));
        assertEquals(403, denied.statusCode());
        assertEquals("", denied.body());
        assertTrue(denied.headers().firstValue("WWW-Authenticate").orElseThrow().contains("realm=\"shop\""));
        assertEquals(401, get("/shop/orders", Optional.empty()).statusCode());
        assertEquals(404, get("/error", reader).statusCode());
        // The container refuses this one by itself, and nobody is shown the page for errors.
        HttpResponse<String> trace = send("TRACE", "/shop/orders", reader);
        assertEquals(405, trace.statusCode());
        assertEquals("", trace.body());
        assertEquals(2, counted("orbgate_decisions_total", "decision", "allow"));
        assertEquals(3, counted("orbgate_decisions_total", "decision", "deny"));
    }

    @Test
    void aRouterThatDisagreesIsRefusedAndCounted() throws Exception {
        startReal(List.of(Summary.class), "--orbgate.check-routes=false");
        Optional<String> reader = Optional.of(issuer.bearer(TokenKind.USER, "read:orders"));
        for (int again = 0; again < 2; again++) {
            assertEquals(200, get("/shop/orders/1", reader).statusCode());
            assertEquals(404, get("/shop/orders/summary", reader).statusCode());
            assertEquals(404, get("/shop/unserved", reader).statusCode());
        }
        assertEquals(2, counted("orbgate_misrouted_total", "matched", "/shop/orders/summary"));
        assertEquals(4, counted("orbgate_decisions_total", "decision", "deny"));
    }

    /** Spring's ForwardedHeaderFilter has the highest precedence and reads them, or the container does. */
    @ParameterizedTest
    @ValueSource(strings = {"framework", "native"})
    void aForwardedPrefixChoosesNoRoute(String strategy) throws Exception {
        startReal(List.of(), "--server.forward-headers-strategy=" + strategy);
        Optional<String> partner = Optional.of(issuer.bearer(TokenKind.USER, "read:partner"));
        Optional<String> reader = Optional.of(issuer.bearer(TokenKind.USER, "read:orders"));
        for (String[] forwarded : new String[][] {
            {}, {"X-Forwarded-Prefix", "/partner"}, {"X-Forwarded-Host", "a/partner"}, {"Forwarded", "host=a;proto=https"}
        }) {
            assertEquals(403, send("GET", "/shop/orders", partner, forwarded).statusCode());
            assertEquals(404, send("GET", "/partner/shop/orders", partner, forwarded).statusCode());
            assertEquals("subject", send("GET", "/shop/orders", reader, forwarded).body());
        }
    }

    @Test
    void noFilterTurnsAnAllowedRequestIntoAnother() throws Exception {
        startReal(
                List.of(Export.class, Others.class, Rewriting.class),
                "--spring.mvc.hiddenmethod.filter.enabled=true");
        Optional<String> reader = Optional.of(issuer.bearer(TokenKind.USER, "read:orders"));
        assertEquals("created", send("POST", "/shop/orders", reader).body());
        assertEquals(404, send("POST", "/shop/orders?_method=DELETE", reader).statusCode());
        for (String how : List.of("rewrite", "forward")) {
            for (String from : List.of("/shop/orders/1", "/shop/orders", "/shop/plain")) {
                HttpResponse<String> denied = send("GET", from, reader, how, "/shop/orders/export");
                assertEquals(404, denied.statusCode(), how + " " + from);
                assertEquals("", denied.body());
            }
        }
        assertEquals(7, counted("orbgate_misrouted_total", "matched", ""));
    }

    @Test
    void handlersForwardAndServletsServe() throws Exception {
        startReal(List.of(Others.class, Rewriting.class));
        Optional<String> reader = Optional.of(issuer.bearer(TokenKind.USER, "read:orders"));
        assertEquals("one", get("/shop/unserved", reader).body());
        assertEquals("plain", get("/shop/plain", reader).body());
        assertEquals(401, get("/shop/plain", Optional.empty()).statusCode());
        HttpResponse<String> failed = send("GET", "/shop/orders", reader, "fail", "yes");
        assertEquals(418, failed.statusCode());
        assertTrue(failed.body().contains("/shop/orders"), failed.body());
    }

    @Test
    void everyPropertyAndBeanHasAnEffect() throws Exception {
        Logger logger = (Logger) LoggerFactory.getLogger("io.github.orbgate.audit");
        ListAppender<ILoggingEvent> audit = new ListAppender<>();
        Replaced.FETCHED.clear();
        startReal(
                List.of(Replaced.class),
                "--orbgate.flat403=true",
                "--orbgate.ignore-method-override=true",
                "--orbgate.audit=true",
                "--logging.level.io.github.orbgate.audit=info");
        audit.start();
        logger.addAppender(audit);
        Optional<String> writer = Optional.of(issuer.bearer(TokenKind.USER, "write:runs"));
        assertEquals("true", send("POST", "/shop/runs", writer, "bonus", "yes", "X-HTTP-Method-Override", "PUT").body());
        assertEquals("false", send("POST", "/shop/runs", writer).body());
        assertEquals(403, get("/nowhere", writer).statusCode());
        assertEquals(1, Replaced.FETCHED.size());
        assertEquals(3, audit.list.size());
        assertTrue(audit.list.get(0).getMessage().contains("write:runs"), audit.list.get(0).getMessage());
        logger.detachAppender(audit);
    }

    @Test
    void aBodyAllowsBonusOrbsUpToTheLimit() throws Exception {
        startReal(List.of(), "--orbgate.bonus-from-body=40");
        String url = "http://127.0.0.1:" + context.getEnvironment().getRequiredProperty("local.server.port") + "/shop/runs";
        String allows = "{\"allowBonusOrbsUse\": true}";
        for (String body : List.of(allows, allows + " ".repeat(40), "{}")) {
            HttpRequest request = HttpRequest.newBuilder(URI.create(url))
                    .header("Authorization", issuer.bearer(TokenKind.USER, "write:runs"))
                    .header("Content-Type", "application/json")
                    .POST(HttpRequest.BodyPublishers.ofString(body))
                    .build();
            assertEquals(body.equals(allows) + body, CLIENT.send(request, HttpResponse.BodyHandlers.ofString()).body());
        }
        assertEquals(3, counted("orbgate_decisions_total", "decision", "allow"));
    }

    @Test
    void theGateIsBeforeEveryFilter() throws Exception {
        startReal(List.of(Highest.class));
        assertEquals(401, get("/shop/orders", Optional.empty()).statusCode());
        assertEquals(200, get("/shop/orders", Optional.of(issuer.bearer(TokenKind.USER, "read:orders"))).statusCode());
    }

    @Test
    void aMappingWithoutInterceptorsIsRefused() {
        IllegalStateException refused =
                assertThrows(IllegalStateException.class, () -> startReal(List.of(OwnMapping.class)));
        assertTrue(refused.getMessage().contains("`own`"), refused.getMessage());
    }

    @Test
    void anActuatorWithAPortOfItsOwnHasNoGate() throws Exception {
        startReal(List.of(), "--management.server.port=0");
        assertEquals(200, send("local.management.port", "GET", "/actuator/health", Optional.empty()).statusCode());
        assertEquals(401, get("/actuator/health", Optional.empty()).statusCode());
    }

    @Test
    void anApplicationWithARouteThatThePolicyLacksDoesNotStart() {
        RoutesException differ = assertThrows(RoutesException.class, () -> startReal(List.of(Summary.class)));
        assertEquals("GET /shop/orders/summary", differ.undeclared().get(0).route());
    }

    @Test
    void routesHaveThePrefixesOfTheServer() throws Exception {
        Files.writeString(folder.resolve("policy.yaml"), POLICY.replace("base_path: /shop", "base_path: /a/b/shop"));
        startReal(List.of(), "--server.servlet.context-path=/a", "--spring.mvc.servlet.path=/b");
        Optional<String> reader = Optional.of(issuer.bearer(TokenKind.USER, "read:orders"));
        assertEquals(200, get("/a/b/shop/orders/1", reader).statusCode());
    }

    @Test
    void aGateCanBeFaked() throws Exception {
        start(List.of(Faked.class));
        assertTrue(context.getBeansOfType(Gate.class).isEmpty());
        assertEquals("one", get("/shop/orders/1", Optional.empty()).body());
        assertEquals(403, get("/shop/orders/2", Optional.empty()).statusCode());
    }

    @Test
    void withoutTokensTheApplicationDoesNotStart() {
        Exception problem = assertThrows(Exception.class, () -> start(List.of()));
        StringWriter text = new StringWriter();
        problem.printStackTrace(new PrintWriter(text));
        assertTrue(text.toString().contains("`orbgate.tokens`"), text.toString());
    }

    /** What a WebSocket answers to two messages; or the status of the answer to its handshake. */
    private Object talk(String path, String... headers) throws Exception {
        String port = context.getEnvironment().getRequiredProperty("local.server.port");
        BlockingQueue<String> answers = new LinkedBlockingQueue<>();
        WebSocket.Builder builder = CLIENT.newWebSocketBuilder();
        for (int at = 0; at < headers.length; at += 2) {
            builder.header(headers[at], headers[at + 1]);
        }
        try {
            WebSocket socket = builder.buildAsync(URI.create("ws://127.0.0.1:" + port + path), new WebSocket.Listener() {
                        @Override
                        public CompletionStage<?> onText(WebSocket from, CharSequence text, boolean isLast) {
                            answers.add(text.toString());
                            from.request(1);
                            return null;
                        }
                    })
                    .join();
            socket.sendText("one", true).join();
            socket.sendText("two", true).join();
            List<String> both = List.of(answers.take(), answers.take());
            socket.abort();
            return both;
        } catch (CompletionException refused) {
            return ((WebSocketHandshakeException) refused.getCause()).getResponse().statusCode();
        }
    }

    @Test
    void aWebSocketIsDecidedOnceAtItsHandshake() throws Exception {
        startReal(List.of(Sockets.class, Rewriting.class));
        String reader = issuer.bearer(TokenKind.USER, "read:orders");
        for (String path : List.of("/shop/feed", "/shop/feeds/1")) {
            assertEquals(401, talk(path));
            assertEquals(403, talk(path, "Authorization", issuer.bearer(TokenKind.USER, "admin:orders")));
            assertEquals(List.of("one", "two"), talk(path, "Authorization", reader));
            for (String how : List.of("rewrite", "forward")) {
                assertEquals(404, talk("/shop/orders", "Authorization", reader, how, path));
            }
        }
        assertEquals(6, counted("orbgate_decisions_total", "decision", "allow"));
        assertEquals(4, counted("orbgate_misrouted_total", "matched", ""));
    }

    /** The container upgrades before any filter. The streams are requests of their own, which come to the filters. */
    @Test
    void everyStreamOfHttp2IsDecided() throws Exception {
        startReal(List.of(), "--server.http2.enabled=true");
        String port = context.getEnvironment().getRequiredProperty("local.server.port");
        String reader = issuer.bearer(TokenKind.USER, "read:orders");
        HttpClient upgrades = HttpClient.newHttpClient();
        List<Integer> statuses = new ArrayList<>();
        for (String bearer : List.of(reader, reader, "none", issuer.bearer(TokenKind.USER, "read:partner"))) {
            HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/shop/orders"))
                    .header("Authorization", bearer)
                    .build();
            HttpResponse<String> answer = upgrades.send(request, HttpResponse.BodyHandlers.ofString());
            assertEquals(HttpClient.Version.HTTP_2, answer.version());
            statuses.add(answer.statusCode());
        }
        assertEquals(List.of(400, 200, 401, 403), statuses);
    }
}
