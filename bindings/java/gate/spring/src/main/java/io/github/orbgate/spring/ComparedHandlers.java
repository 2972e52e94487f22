package io.github.orbgate.spring;

import io.github.orbgate.servlet.GateFilter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.MappingMatch;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.HandlerMapping;

/** Compares the template of the handler that Spring has chosen with the allowed one, directly before the handler. */
final class ComparedHandlers implements HandlerInterceptor {
    private final WebApplicationContext context;

    ComparedHandlers(WebApplicationContext context) {
        this.context = context;
    }

    @Override
    public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
        // An actuator with its own port is another server, without a gate, which inherits this interceptor.
        return request.getServletContext() != context.getServletContext()
                || GateFilter.agrees(request, response, template(request));
    }

    /** Without the context path of the request, which a filter may have changed. */
    private static String template(HttpServletRequest request) {
        Object pattern = request.getAttribute(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE);
        return pattern == null ? "" : request.getServletContext().getContextPath() + servletPath(request) + pattern;
    }

    /** The path below which the dispatcher is mapped, if it does not serve all paths. */
    private static String servletPath(HttpServletRequest request) {
        boolean isBelow = request.getHttpServletMapping().getMappingMatch() == MappingMatch.PATH;
        return isBelow ? request.getServletPath() : "";
    }
}
