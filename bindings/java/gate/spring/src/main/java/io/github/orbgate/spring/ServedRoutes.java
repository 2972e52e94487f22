package io.github.orbgate.spring;

import io.github.orbgate.Gate;
import io.github.orbgate.RoutesException;
import io.github.orbgate.ServiceRoute;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.ApplicationContext;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.handler.AbstractHandlerMapping;
import org.springframework.web.servlet.mvc.method.RequestMappingInfo;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/** The routes of an application's controllers. */
final class ServedRoutes {
    private static final Logger LOGGER = LoggerFactory.getLogger(ServedRoutes.class);

    private ServedRoutes() {}

    /** Compares them with the routes of the policy, which may have more: several services may share it. */
    static void check(Gate gate, ApplicationContext context, boolean isStrict) {
        try {
            gate.checkRoutes(of(context));
        } catch (RoutesException differ) {
            if (differ.undeclared().isEmpty()) {
                return;
            }
            if (isStrict) {
                throw differ;
            }
            LOGGER.warn("{}", differ.getMessage());
        }
    }

    /** A mapping without interceptors would call handlers without the comparison. */
    static void checkMappings(ApplicationContext context) {
        context.getBeansOfType(HandlerMapping.class).forEach((name, mapping) -> {
            if (!(mapping instanceof AbstractHandlerMapping)) {
                throw new IllegalStateException("`orbgate.match-templates` needs interceptors, and the handler mapping `" + name
                        + "` does not extend AbstractHandlerMapping");
            }
        });
    }

    private static List<ServiceRoute> of(ApplicationContext context) {
        return context.getBeansOfType(RequestMappingHandlerMapping.class).values().stream()
                .flatMap(mapping -> mapping.getHandlerMethods().entrySet().stream())
                .filter(entry -> !isSprings(entry))
                .flatMap(entry -> routes(entry.getKey(), context))
                .distinct()
                .toList();
    }

    /** Spring Boot's error page is never requested by a path: a gate denies it. */
    private static boolean isSprings(Map.Entry<RequestMappingInfo, HandlerMethod> entry) {
        return entry.getValue().getBeanType().getName().startsWith("org.springframework.boot.");
    }

    private static Stream<ServiceRoute> routes(RequestMappingInfo info, ApplicationContext context) {
        String servlet = context.getEnvironment().getProperty("spring.mvc.servlet.path", "");
        String prefix = context.getEnvironment().getProperty("server.servlet.context-path", "") + servlet.replaceAll("/$", "");
        // A handler without a method accepts every method; the usual ones represent them.
        List<String> methods = info.getMethodsCondition().getMethods().isEmpty()
                ? List.of("DELETE", "GET", "PATCH", "POST", "PUT")
                : info.getMethodsCondition().getMethods().stream().map(RequestMethod::name).toList();
        return info.getPatternValues().stream()
                .flatMap(pattern -> methods.stream().map(method -> new ServiceRoute(method, prefix + pattern)));
    }
}
