package io.github.orbgate.spring;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.MappingMatch;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.context.ApplicationContext;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;
import org.springframework.web.servlet.HandlerExecutionChain;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.util.ServletRequestPathUtils;

/** Which template Spring's handler mappings take for a request, asked before they are asked for the handler. */
final class MatchedTemplates implements Function<HttpServletRequest, Optional<String>> {
    private final ApplicationContext context;
    private volatile List<HandlerMapping> mappings;

    MatchedTemplates(ApplicationContext context) {
        this.context = context;
    }

    /** The template; no text where none is taken: then what would be allowed is denied. */
    @Override
    public Optional<String> apply(HttpServletRequest request) {
        Map<String, Object> before = attributes(request);
        try {
            return Optional.of(template(request));
        } catch (Exception unmatched) {
            // As for a method that no handler has, or a path that Spring refuses.
            return Optional.of("");
        } finally {
            attributes(request).keySet().stream().filter(name -> !before.containsKey(name)).forEach(request::removeAttribute);
            before.forEach(request::setAttribute);
        }
    }

    /** As the dispatcher does it: the first mapping that has a handler. */
    private String template(HttpServletRequest request) throws Exception {
        ServletRequestPathUtils.parseAndCache(request);
        for (HandlerMapping mapping : mappings()) {
            HandlerExecutionChain handler = mapping.getHandler(request);
            if (handler != null) {
                Object pattern = request.getAttribute(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE);
                return pattern == null ? "" : request.getContextPath() + servletPath(request) + pattern;
            }
        }
        return "";
    }

    /** Below which path the dispatcher is, if it does not have all of them. */
    private static String servletPath(HttpServletRequest request) {
        boolean isBelow = request.getHttpServletMapping().getMappingMatch() == MappingMatch.PATH;
        return isBelow ? request.getServletPath() : "";
    }

    private List<HandlerMapping> mappings() {
        List<HandlerMapping> found = mappings;
        if (found == null) {
            found = BeanFactoryUtils.beansOfTypeIncludingAncestors(context, HandlerMapping.class, true, false).values().stream()
                    .sorted(AnnotationAwareOrderComparator.INSTANCE)
                    .toList();
            mappings = found;
        }
        return found;
    }

    private static Map<String, Object> attributes(HttpServletRequest request) {
        Map<String, Object> attributes = new HashMap<>();
        for (Enumeration<String> names = request.getAttributeNames(); names.hasMoreElements(); ) {
            String name = names.nextElement();
            attributes.put(name, request.getAttribute(name));
        }
        return attributes;
    }
}
