package io.github.orbgate.servlet;

import io.github.orbgate.Answer;
import io.github.orbgate.BonusOrbs;
import io.github.orbgate.Call;
import io.github.orbgate.GateRequest;
import io.github.orbgate.Guard;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.FilterConfig;
import jakarta.servlet.FilterRegistration;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestWrapper;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletMapping;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

/**
 * Passes the requests that the policy allows. A denial is a status without a body, with {@code WWW-Authenticate} or
 * {@code Allow}. Handlers get the information about their call from {@link #allowed}.
 *
 * <p>Register it as the first filter, for all paths. It decides requests of the dispatch {@code REQUEST}, with method
 * and target from the container: a filter before this one that wraps the request cannot change the decision. Other
 * dispatches belong to the service: they pass if their request has been allowed, and are denied otherwise, because no
 * gate has decided it. So register the filter for all dispatches, or the container shows error pages for requests that
 * it rejects itself.
 *
 * <p>A servlet whose mapping is more specific than the allowed template is a route that the policy lacks: the answer is a 404, counted
 * in {@code orbgate_misrouted_total}.
 *
 * <p>Filters after this one can still rewrite a request: register {@link HandlerFilter}, which denies such requests, as
 * the last filter.
 */
public final class GateFilter implements Filter {
    /** The request attribute with the information about an allowed call, a {@link Call}. */
    public static final String ATTRIBUTE = "io.github.orbgate.call";

    /** The client's certificates, which the container sets and no header does. */
    private static final String CERTIFICATES = "jakarta.servlet.request.X509Certificate";

    private static final System.Logger LOGGER = System.getLogger(GateFilter.class.getName());

    private final Guard gate;
    private final Function<HttpServletRequest, BonusOrbs> bonus;
    /** The largest body that is read; 0 reads none. */
    private final int limit;

    /** A filter for requests without bonus orbs. */
    public GateFilter(Guard gate) {
        this(gate, request -> BonusOrbs.UNREAD);
    }

    /**
     * A filter that determines whether an allowed request allows bonus orbs; if the function throws, it doesn't. Limit how much of a body
     * the function reads, and give the handler the same bytes.
     */
    public GateFilter(Guard gate, Function<HttpServletRequest, BonusOrbs> bonus) {
        this(gate, bonus, 0);
    }

    private GateFilter(Guard gate, Function<HttpServletRequest, BonusOrbs> bonus, int limit) {
        this.gate = Objects.requireNonNull(gate, "gate");
        this.bonus = Objects.requireNonNull(bonus, "bonus");
        this.limit = limit;
    }

    /**
     * A filter that reads up to this many bytes from the body of an allowed request, to find {@code "allowBonusOrbsUse": true}. The service
     * still gets the whole body, but can't read it with a {@code ReadListener}. A longer body, and a form, count as not allowing bonus orbs.
     */
    public static GateFilter bonusFromBody(Guard gate, int limit) {
        return new GateFilter(gate, request -> BonusOrbs.UNREAD, limit);
    }

    /** Init parameter of this filter that confirms where WebSockets are: {@code inside}. */
    public static final String WEBSOCKETS = "orbgate.websockets";

    /**
     * Warns of servlets outside the paths of this filter: the gate never sees their requests.
     *
     * @throws ServletException if Jetty has a {@code WebSocketUpgradeFilter}. Jetty puts it before all other filters, and it answers
     *     handshakes that no gate has decided. Add one with the name of its class yourself, after this filter, and set {@link
     *     #WEBSOCKETS} for this filter
     */
    @Override
    public void init(FilterConfig config) throws ServletException {
        ServletContext context = config.getServletContext();
        boolean hasUpgrades = context.getFilterRegistrations().values().stream()
                .anyMatch(filter -> String.valueOf(filter.getClassName()).endsWith(".WebSocketUpgradeFilter"));
        if (hasUpgrades && !"inside".equals(config.getInitParameter(WEBSOCKETS))) {
            throw new ServletException("Jetty's WebSocketUpgradeFilter comes before the gate: add it yourself after GateFilter, named as its"
                    + " class, and set GateFilter's parameter `" + WEBSOCKETS + "` to `inside`");
        }
        FilterRegistration own = context.getFilterRegistration(config.getFilterName());
        if (own == null) {
            return;
        }
        Collection<String> names = own.getServletNameMappings();
        context.getServletRegistrations().forEach((name, servlet) -> servlet.getMappings().stream()
                .filter(path -> !names.contains(name) && own.getUrlPatternMappings().stream().noneMatch(ours -> covers(ours, path)))
                .forEach(path -> LOGGER.log(
                        Level.WARNING, () -> "the gate does not see requests for `" + path + "`, of the servlet `" + name + "`")));
    }

    private static boolean covers(String pattern, String path) {
        return pattern.equals(path)
                || pattern.endsWith("/*") && (path + "/").startsWith(pattern.substring(0, pattern.length() - 1));
    }

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        HttpServletResponse http = (HttpServletResponse) response;
        if (request.getDispatcherType() != DispatcherType.REQUEST) {
            if (Decided.of(request) != null) {
                chain.doFilter(request, response);
            } else if (http.getStatus() < HttpServletResponse.SC_BAD_REQUEST) {
                // Otherwise the container itself has rejected the request, and has set the status.
                deny(http, HttpServletResponse.SC_FORBIDDEN);
            }
            return;
        }
        HttpServletRequest own = own(request);
        GateRequest question = asked(own);
        AtomicReference<HttpServletRequest> passed = new AtomicReference<>((HttpServletRequest) request);
        Answer answer = gate.ask(question, () -> limit > 0 ? peek(passed) : bonus.apply(own));
        Optional<Call> call = answer.call();
        if (call.isEmpty()) {
            deny(http, answer);
            return;
        }
        if (!call.get().template().map(template -> serves(own, template)).orElse(true)) {
            refuse(http, gate.askAgain(question.matched(own.getHttpServletMapping().getPattern()), call.get()));
            return;
        }
        new Decided(gate, question, own);
        own.setAttribute(ATTRIBUTE, call.get());
        chain.doFilter(passed.get(), response);
    }

    /** Whether the body allows bonus orbs. The request is replaced by one that has the same body. */
    private BonusOrbs peek(AtomicReference<HttpServletRequest> passed) {
        try {
            passed.set(PeekedRequest.of(passed.get(), limit));
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
        return passed.get() instanceof PeekedRequest peeked ? peeked.body().bonus() : BonusOrbs.REFUSE;
    }

    /**
     * Whether the mapping of the servlet that the container has chosen can serve a template. A more specific servlet is a route that the
     * policy lacks.
     */
    private static boolean serves(HttpServletRequest request, String template) {
        HttpServletMapping mapping = request.getHttpServletMapping();
        if (mapping.getMappingMatch() == null) {
            return true; // A test without a container chooses no servlet.
        }
        String pattern = request.getServletContext().getContextPath() + mapping.getPattern();
        return switch (mapping.getMappingMatch()) {
            // With `trailing_slash: always`, the servlet's path ends in a slash that the template doesn't have.
            case EXACT -> template.equals(pattern) || (template + "/").equals(pattern);
            case PATH -> (template + "/").startsWith(pattern.substring(0, pattern.length() - 1));
            case EXTENSION -> template.endsWith(mapping.getPattern().substring(1));
            case CONTEXT_ROOT, DEFAULT -> true;
        };
    }

    /** The container's own request, without the wrappers of other filters. */
    private static HttpServletRequest own(ServletRequest request) {
        ServletRequest own = request;
        while (own instanceof ServletRequestWrapper wrapper) {
            own = wrapper.getRequest();
        }
        return (HttpServletRequest) own;
    }

    private static GateRequest asked(HttpServletRequest request) {
        Map<String, List<String>> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        for (String name : Collections.list(request.getHeaderNames())) {
            headers.put(name, Collections.list(request.getHeaders(name)));
        }
        GateRequest asked = new GateRequest(request.getMethod(), target(request), headers);
        boolean has = request.getAttribute(CERTIFICATES) instanceof X509Certificate[] all && all.length > 0;
        return has ? asked.certificate(((X509Certificate[]) request.getAttribute(CERTIFICATES))[0]) : asked;
    }

    /** Path and query as returned by the container: neither decoded, nor without the path parameters ({@code ;…}). */
    private static String target(HttpServletRequest request) {
        // A target without a path, such as `example.com:443`, may be null here: an empty string is
        // denied.
        String path = Objects.requireNonNullElse(request.getRequestURI(), "");
        String query = request.getQueryString();
        return query == null ? path : path + "?" + query;
    }

    // Not `sendError`, which would start another dispatch with a body.
    private static void deny(HttpServletResponse response, Answer answer) {
        answer.wwwAuthenticate().ifPresent(value -> response.setHeader("WWW-Authenticate", value));
        answer.allow().ifPresent(value -> response.setHeader("Allow", value));
        deny(response, answer.httpStatus());
    }

    private static void deny(HttpServletResponse response, int status) {
        // Caches may keep a 404 or 405, and some keep a 403.
        response.setHeader("Cache-Control", "no-store");
        response.setStatus(status);
    }

    /** Whether a request that leaves the last filter may proceed; otherwise it is answered. */
    static boolean reaches(HttpServletRequest request, HttpServletResponse response) {
        Decided decided = Decided.of(request);
        DispatcherType type = request.getDispatcherType();
        // A second filter of the same request compares once more, and its handler has not been reached yet.
        boolean isLater = type == DispatcherType.ERROR || type != DispatcherType.REQUEST && decided != null && decided.isReached;
        if (decided != null && isLater) {
            decided.isReached = true;
            decided.isServed = true;
            return true;
        }
        boolean agrees = compare(decided, request, response, Optional.empty());
        if (agrees) {
            decided.isReached = true;
        }
        return agrees;
    }

    /**
     * Compares the handler that a router has chosen with the decision: the template, and the method and path that the
     * handler sees. Call it directly before the handler. If they differ, it answers the request with a 404, and counts
     * it in {@code orbgate_misrouted_total}.
     *
     * <p>Forwards and asynchronous dispatches of a handler always agree, and so do error pages.
     *
     * @param template written as in the policy, with the context path; an empty string if the router exposes none,
     * which is denied
     * @return whether the handler may run
     */
    public static boolean agrees(HttpServletRequest request, HttpServletResponse response, String template) {
        Decided decided = Decided.of(request);
        if (decided != null && (decided.isServed || request.getDispatcherType() == DispatcherType.ERROR)) {
            return true;
        }
        boolean agrees = compare(decided, request, response, Optional.of(template));
        if (agrees) {
            decided.isServed = true;
        }
        return agrees;
    }

    private static boolean compare(
            Decided decided, HttpServletRequest request, HttpServletResponse response, Optional<String> template) {
        if (decided == null) {
            deny(response, HttpServletResponse.SC_FORBIDDEN);
            return false;
        }
        // The path of an included resource differs from the path of the request.
        boolean isSeen = request.getDispatcherType() != DispatcherType.INCLUDE && decided.isSeenBy(request);
        if (isSeen && template.isEmpty()) {
            return true;
        }
        GateRequest routed = decided.request.matched(isSeen ? template.get() : "");
        Answer answer = decided.gate.askAgain(routed, call(request).orElseThrow());
        if (answer.isAllow() && isSeen) {
            return true;
        }
        refuse(response, answer);
        return false;
    }

    /** Answers a misrouted request. */
    private static void refuse(HttpServletResponse response, Answer again) {
        if (again.isAllow()) {
            deny(response, HttpServletResponse.SC_NOT_FOUND); // A fake gate compares nothing.
        } else {
            deny(response, again);
        }
    }

    /** Information about the call that a handler serves; empty if no gate has allowed it. */
    public static Optional<Call> call(ServletRequest request) {
        return request.getAttribute(ATTRIBUTE) instanceof Call call ? Optional.of(call) : Optional.empty();
    }

    /**
     * Information about the call that a handler serves.
     *
     * @throws IllegalStateException if no gate has decided the request, or if a filter has rewritten its method or path since: the
     *     answer is a 500
     */
    public static Call allowed(HttpServletRequest request) {
        Decided decided = Decided.of(request);
        if (decided != null && request.getDispatcherType() == DispatcherType.REQUEST && !decided.isSeenBy(request)) {
            throw new IllegalStateException("a filter has rewritten this request since a gate decided it");
        }
        return call(request).orElseThrow(() -> new IllegalStateException(
                "no gate has decided this request: make GateFilter the first filter, for all paths"));
    }
}
