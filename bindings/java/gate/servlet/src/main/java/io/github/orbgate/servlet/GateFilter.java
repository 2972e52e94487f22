package io.github.orbgate.servlet;

import io.github.orbgate.Answer;
import io.github.orbgate.BonusOrbs;
import io.github.orbgate.Call;
import io.github.orbgate.GateRequest;
import io.github.orbgate.Guard;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;

/**
 * Lets through what the policy allows. A denial is a bare status, with {@code WWW-Authenticate} or {@code Allow}. What is known of an
 * allowed call is an attribute of the request: see {@link #call}.
 *
 * <p>Make it the first filter, for all paths. It decides what comes from outside, the dispatch {@code REQUEST}. Other dispatches are
 * the service's own: they pass if their request has been allowed, and are denied otherwise, because then nobody has decided it. So
 * register it for all of them, or error pages will be shown for requests that the container refuses by itself.
 */
public final class GateFilter implements Filter {
    /** The attribute of a request that has what is known of an allowed call, a {@link Call}. */
    public static final String ATTRIBUTE = "io.github.orbgate.call";

    private final Guard gate;
    private final Function<HttpServletRequest, BonusOrbs> bonus;
    private final Function<HttpServletRequest, Optional<String>> matched;

    /** A filter outside every router, for requests without bonus orbs. */
    public GateFilter(Guard gate) {
        this(gate, request -> BonusOrbs.REFUSE, request -> Optional.empty());
    }

    /**
     * A filter that asks more of a request.
     *
     * @param bonus whether it allows bonus orbs
     * @param matched the template that a router takes for it: see {@link GateRequest#matched()}
     */
    public GateFilter(
            Guard gate,
            Function<HttpServletRequest, BonusOrbs> bonus,
            Function<HttpServletRequest, Optional<String>> matched) {
        this.gate = Objects.requireNonNull(gate, "gate");
        this.bonus = Objects.requireNonNull(bonus, "bonus");
        this.matched = Objects.requireNonNull(matched, "matched");
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        HttpServletResponse http = (HttpServletResponse) response;
        if (request.getDispatcherType() != DispatcherType.REQUEST) {
            if (call(request).isPresent()) {
                chain.doFilter(request, response);
            } else if (http.getStatus() < HttpServletResponse.SC_BAD_REQUEST) {
                // Otherwise the container has refused the request by itself, and has set the status of that.
                http.setStatus(HttpServletResponse.SC_FORBIDDEN);
            }
            return;
        }
        Answer answer = gate.ask(asked((HttpServletRequest) request));
        Optional<Call> call = answer.call();
        if (call.isEmpty()) {
            deny(http, answer);
            return;
        }
        request.setAttribute(ATTRIBUTE, call.get());
        chain.doFilter(request, response);
    }

    private GateRequest asked(HttpServletRequest request) {
        List<String> authorization = Collections.list(request.getHeaders("Authorization"));
        List<String> names = Collections.list(request.getHeaderNames());
        return new GateRequest(
                request.getMethod(), target(request), authorization, names, matched.apply(request), bonus.apply(request));
    }

    /** Path and query as the container gives them: neither decoded, nor without the parameters of the path ({@code ;…}). */
    private static String target(HttpServletRequest request) {
        // A target that has no path, as `example.com:443` is, may have none here: no text is denied.
        String path = Objects.requireNonNullElse(request.getRequestURI(), "");
        String query = request.getQueryString();
        return query == null ? path : path + "?" + query;
    }

    // Not `sendError`: that would begin another dispatch, with a body.
    private static void deny(HttpServletResponse response, Answer answer) {
        answer.wwwAuthenticate().ifPresent(value -> response.setHeader("WWW-Authenticate", value));
        answer.allow().ifPresent(value -> response.setHeader("Allow", value));
        response.setStatus(answer.httpStatus());
    }

    /** What is known of the call that a servlet serves; empty where no gate has let it through. */
    public static Optional<Call> call(ServletRequest request) {
        return request.getAttribute(ATTRIBUTE) instanceof Call call ? Optional.of(call) : Optional.empty();
    }
}
