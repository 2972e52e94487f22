package io.github.orbgate.servlet;

import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/**
 * Denies requests that another filter has rewritten after the {@link GateFilter} allowed them: their method or path
 * differs from the decided one, or the filter has forwarded them to another path. The denial is a 404, counted as
 * {@code orbgate_misrouted_total}.
 *
 * <p>Register it as the last filter, for all paths and all dispatches.
 */
public final class HandlerFilter implements Filter {
    /** Makes it. */
    public HandlerFilter() {}

    @Override
    public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        if (GateFilter.reaches((HttpServletRequest) request, (HttpServletResponse) response)) {
            chain.doFilter(request, response);
        }
    }
}
