package io.github.orbgate.httpserver;

import com.sun.net.httpserver.Filter;
import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import io.github.orbgate.Answer;
import io.github.orbgate.BonusOrbs;
import io.github.orbgate.Call;
import io.github.orbgate.GateRequest;
import io.github.orbgate.Guard;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.WeakHashMap;
import java.util.function.Function;

/**
 * Lets through what the policy allows. A denial is a bare status, with {@code WWW-Authenticate} or {@code Allow}. Make it the
 * first filter of every context. What is known of an allowed call is at {@link #call}.
 */
public final class GateFilter extends Filter {
    // The attributes of an exchange are those of its context: all requests share them.
    private static final Map<HttpExchange, Call> CALLS = Collections.synchronizedMap(new WeakHashMap<>());

    private final Guard gate;
    private final Function<HttpExchange, BonusOrbs> bonus;

    /** A filter for requests without bonus orbs. */
    public GateFilter(Guard gate) {
        this(gate, exchange -> BonusOrbs.REFUSE);
    }

    /** A filter that asks whether a request allows bonus orbs. */
    public GateFilter(Guard gate, Function<HttpExchange, BonusOrbs> bonus) {
        this.gate = Objects.requireNonNull(gate, "gate");
        this.bonus = Objects.requireNonNull(bonus, "bonus");
    }

    @Override
    public void doFilter(HttpExchange exchange, Chain chain) throws IOException {
        Headers headers = exchange.getRequestHeaders();
        List<String> authorization = headers.getOrDefault("Authorization", List.of());
        GateRequest request = new GateRequest(
                exchange.getRequestMethod(), exchange.getRequestURI().toString(), authorization, headers.keySet());
        Answer answer = gate.ask(request.bonus(bonus.apply(exchange)));
        Optional<Call> call = answer.call();
        if (call.isEmpty()) {
            deny(exchange, answer);
            return;
        }
        CALLS.put(exchange, call.get());
        chain.doFilter(exchange);
    }

    private static void deny(HttpExchange exchange, Answer answer) throws IOException {
        try (exchange) {
            answer.wwwAuthenticate().ifPresent(value -> exchange.getResponseHeaders().set("WWW-Authenticate", value));
            answer.allow().ifPresent(value -> exchange.getResponseHeaders().set("Allow", value));
            exchange.sendResponseHeaders(answer.httpStatus(), -1);
        }
    }

    /** What is known of the call that a handler serves, with the exchange that the filter has handed on; empty where no gate has. */
    public static Optional<Call> call(HttpExchange exchange) {
        return Optional.ofNullable(CALLS.get(exchange));
    }

    @Override
    public String description() {
        return "asks an Orbgate gate about each request";
    }
}
