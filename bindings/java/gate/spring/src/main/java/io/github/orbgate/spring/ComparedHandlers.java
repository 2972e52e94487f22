package io.github.orbgate.spring;

import io.github.orbgate.servlet.GateFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.MappingMatch;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.HandlerMapping;

/** Compares the template of the handler that Spring has chosen with the one that the gate has allowed, right before the handler. */
final class ComparedHandlers implements HandlerInterceptor {
    private final WebApplicationContext context;

    ComparedHandlers(WebApplicationContext context) {
        this.context = context;
    }

    @Override
    public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
        // The actuator with a port of its own is another server, which has no gate, and has this interceptor from its parent.
        return request.getServletContext() != context.getServletContext()
                || GateFilter.agrees(request, response, template(request));
    }

    /** Not with the request's own path of the context, which a filter may have changed. */
    private static String template(HttpServletRequest request) {
        Object pattern = request.getAttribute(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE);
        return pattern == null ? "" : request.getServletContext().getContextPath() + servletPath(request) + pattern;
    }

    /** Below which path the dispatcher is, if it does not have all of them. */
    private static String servletPath(HttpServletRequest request) {
        boolean isBelow = request.getHttpServletMapping().getMappingMatch() == MappingMatch.PATH;
        return isBelow ? request.getServletPath() : "";
    }
}
