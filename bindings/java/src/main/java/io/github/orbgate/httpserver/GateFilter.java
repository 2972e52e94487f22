package io.github.orbgate.httpserver;

import com.sun.net.httpserver.Filter;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsExchange;
import io.github.orbgate.Answer;
import io.github.orbgate.BonusOrbs;
import io.github.orbgate.Call;
import io.github.orbgate.GateRequest;
import io.github.orbgate.Guard;
import io.github.orbgate.PeekedBody;
import java.io.IOException;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.WeakHashMap;
import java.util.function.Function;
import javax.net.ssl.SSLPeerUnverifiedException;

/**
 * Passes the requests that the policy allows. A denial is a status without a body, with {@code WWW-Authenticate} or
 * {@code Allow}. Handlers get the information about their call from {@link #allowed}.
 *
 * <p>The path of the exchange's context must be a prefix of the allowed template. If a context is more specific, the response is a 404,
 * counted in {@code orbgate_misrouted_total}.
 *
 * <p>{@link #protect} makes it the first filter of every context. Without that, add it to each context.
 */
public final class GateFilter extends Filter {
    // The attributes of an exchange belong to its context: all requests share them.
    private static final Map<HttpExchange, Decided> DECIDED = Collections.synchronizedMap(new WeakHashMap<>());

    /** The request whose handler this thread is about to run: another filter may have wrapped its exchange. */
    private static final ThreadLocal<Decided> CURRENT = new ThreadLocal<>();

    private final Guard gate;
    private final Function<HttpExchange, BonusOrbs> bonus;

    private record Decided(GateRequest request, Call call) {
        boolean isSeenBy(HttpExchange exchange) {
            return exchange.getRequestMethod().equals(request.method()) && target(exchange).equals(request.target());
        }
    }

    /** A filter for requests without bonus orbs. */
    public GateFilter(Guard gate) {
        this(gate, exchange -> BonusOrbs.UNREAD);
    }

    /**
     * A filter that determines whether an allowed request allows bonus orbs; if the function throws, it doesn't. Limit how much of a body
     * the function reads, and give the handler the same bytes.
     */
    public GateFilter(Guard gate, Function<HttpExchange, BonusOrbs> bonus) {
        this.gate = Objects.requireNonNull(gate, "gate");
        this.bonus = Objects.requireNonNull(bonus, "bonus");
    }

    /**
     * A filter that reads up to this many bytes from the body of an allowed request, to find {@code "allowBonusOrbsUse": true}. The handler
     * still gets the whole body. A longer body counts as not allowing bonus orbs.
     */
    public static GateFilter bonusFromBody(Guard gate, int limit) {
        return new GateFilter(gate, exchange -> {
            PeekedBody body = new PeekedBody(exchange.getRequestBody(), limit);
            exchange.setStreams(body, null);
            return body.bonus();
        });
    }

    /**
     * Returns a server that protects every context created with it: this filter is the first, and a handler runs only
     * if it sees the decided method and target. If another filter has rewritten them, the response is a 404, counted in
     * {@code orbgate_misrouted_total}. The server does not start if a context has another filter before this one.
     *
     * @param server a server without contexts: create them with the returned server
     * @throws IllegalStateException if it has a context for {@code /}, which is then removed; other contexts cannot be detected
     */
    public HttpServer protect(HttpServer server) {
        return new ProtectedServer(server, this);
    }

    @Override
    public void doFilter(HttpExchange exchange, Chain chain) throws IOException {
        GateRequest request = asked(exchange);
        Answer answer = gate.ask(request, () -> bonus.apply(exchange));
        Optional<Call> call = answer.call();
        if (call.isEmpty()) {
            deny(exchange, answer);
            return;
        }
        Decided decided = new Decided(request, call.get());
        String context = exchange.getHttpContext().getPath();
        // With `trailing_slash: always`, a context can end in a slash that the template doesn't have.
        if (!(call.get().template().orElse(context) + "/").startsWith(context)) {
            misrouted(exchange, decided, context);
            return;
        }
        DECIDED.put(exchange, decided);
        CURRENT.set(decided);
        try {
            chain.doFilter(exchange);
        } finally {
            CURRENT.remove();
        }
    }

    private static GateRequest asked(HttpExchange exchange) {
        GateRequest request = new GateRequest(exchange.getRequestMethod(), target(exchange), exchange.getRequestHeaders());
        if (!(exchange instanceof HttpsExchange secure)) {
            return request;
        }
        try {
            Certificate[] certificates = secure.getSSLSession().getPeerCertificates();
            return certificates[0] instanceof X509Certificate own ? request.certificate(own) : request;
        } catch (SSLPeerUnverifiedException none) {
            return request; // The client has no certificate.
        }
    }

    private static String target(HttpExchange exchange) {
        return exchange.getRequestURI().toString();
    }

    /** A handler that runs only if it sees the decided method and target. */
    HttpHandler comparing(HttpHandler handler) {
        return exchange -> {
            Decided decided = DECIDED.getOrDefault(exchange, CURRENT.get());
            if (decided == null) {
                refuse(exchange, 403);
            } else if (decided.isSeenBy(exchange)) {
                DECIDED.put(exchange, decided);
                handler.handle(exchange);
            } else {
                misrouted(exchange, decided, "");
            }
        };
    }

    private void misrouted(HttpExchange exchange, Decided decided, String matched) throws IOException {
        Answer answer = gate.askAgain(decided.request().matched(matched), decided.call());
        refuse(exchange, answer.isAllow() ? 404 : answer.httpStatus()); // A fake gate compares nothing.
    }

    private static void deny(HttpExchange exchange, Answer answer) throws IOException {
        answer.wwwAuthenticate().ifPresent(value -> exchange.getResponseHeaders().set("WWW-Authenticate", value));
        answer.allow().ifPresent(value -> exchange.getResponseHeaders().set("Allow", value));
        refuse(exchange, answer.httpStatus());
    }

    private static void refuse(HttpExchange exchange, int status) throws IOException {
        try (exchange) {
            // Caches may keep a 404 or 405, and some keep a 403.
            exchange.getResponseHeaders().set("Cache-Control", "no-store");
            exchange.sendResponseHeaders(status, -1);
        }
    }

    /** Information about the call that a handler serves, by the exchange that it got; empty without a gate. */
    public static Optional<Call> call(HttpExchange exchange) {
        return Optional.ofNullable(DECIDED.get(exchange)).map(Decided::call);
    }

    /**
     * Information about the call that a handler serves.
     *
     * @throws IllegalStateException if no gate has decided the request. The response is then a 500, because the JDK's server
     *     would close the connection without a response
     */
    public static Call allowed(HttpExchange exchange) {
        return call(exchange).orElseThrow(() -> {
            IllegalStateException unprotected =
                    new IllegalStateException("no gate has decided this request: create its context with GateFilter.protect");
            try {
                refuse(exchange, 500);
            } catch (IOException gone) {
                unprotected.addSuppressed(gone);
            }
            return unprotected;
        });
    }

    @Override
    public String description() {
        return "asks an Orbgate gate about each request";
    }
}
