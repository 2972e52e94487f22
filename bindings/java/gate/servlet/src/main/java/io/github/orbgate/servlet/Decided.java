package io.github.orbgate.servlet;

import io.github.orbgate.GateRequest;
import io.github.orbgate.Guard;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Objects;

/** The gate's answer to a request, and how far an allowed request has proceeded since. */
final class Decided {
    private static final String ATTRIBUTE = "io.github.orbgate.decided";

    final Guard gate;
    final GateRequest request;
    private final Seen seen;

    /** Whether the request has passed the last filter. */
    volatile boolean isReached;

    /** Whether a handler has started: later dispatches belong to the service. */
    volatile boolean isServed;

    /**
     * The properties that a handler may use for routing. The path is relative to the context: Spring's {@code
     * ForwardedHeaderFilter} prefixes both, and servlets are chosen without the prefix.
     */
    private record Seen(String method, String path, String servletPath, String pathInfo) {
        static Seen of(HttpServletRequest request) {
            String path = Objects.requireNonNullElse(request.getRequestURI(), "");
            String context = Objects.requireNonNullElse(request.getContextPath(), "");
            String below = path.startsWith(context) ? path.substring(context.length()) : path;
            return new Seen(request.getMethod(), below, request.getServletPath(), request.getPathInfo());
        }
    }

    /** The container's own request has been allowed. */
    Decided(Guard gate, GateRequest request, HttpServletRequest own) {
        this.gate = gate;
        this.request = request;
        seen = Seen.of(own);
        own.setAttribute(ATTRIBUTE, this);
    }

    /** Null if no gate has allowed the request. */
    static Decided of(ServletRequest request) {
        return request.getAttribute(ATTRIBUTE) instanceof Decided decided ? decided : null;
    }

    /** Whether a handler of this request sees the method and the path that were decided. */
    boolean isSeenBy(HttpServletRequest request) {
        return Seen.of(request).equals(seen);
    }
}
