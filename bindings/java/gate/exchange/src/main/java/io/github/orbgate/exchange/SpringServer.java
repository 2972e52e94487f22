package io.github.orbgate.exchange;

import io.github.orbgate.Gate;
import io.github.orbgate.spring.GateAutoConfiguration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.servlet.function.HandlerFunction;
import org.springframework.web.servlet.function.RequestPredicates;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerResponse;

/** Spring MVC on Tomcat, by Spring Boot and the starter. */
final class SpringServer implements Program.Server {
    /** The application. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}

    @Override
    public int start(int port, List<String> templates, Optional<Gate> gate) throws Exception {
        SpringApplication application = new SpringApplication(Application.class);
        Map<String, Object> properties = new HashMap<>(Map.of(
                "server.address", "127.0.0.1",
                "server.port", port,
                "spring.main.banner-mode", "off",
                "spring.web.resources.add-mappings", false,
                "spring.mvc.servlet.load-on-startup", 1,
                // Its 8 KiB are for the whole head of a request.
                "server.max-http-request-header-size", "32KB",
                "logging.level.root", "warn",
                "logging.level.io.github.orbgate", "info"));
        if (gate.isEmpty()) {
            properties.put("spring.autoconfigure.exclude", GateAutoConfiguration.class.getName());
        }
        properties.put("orbgate.match-templates", templates.stream().allMatch(SpringServer::isPlain));
        application.setDefaultProperties(properties);
        application.addInitializers(context -> {
            var beans = context.getBeanFactory();
            gate.ifPresent(real -> beans.registerSingleton("orbgateGate", real));
            beans.registerSingleton("routes", routes(templates.stream().filter(SpringServer::isPlain).toList()));
        });
        ConfigurableApplicationContext context = application.run();
        return Integer.parseInt(context.getEnvironment().getRequiredProperty("local.server.port"));
    }

    /** Not with a character that is a pattern to Spring, which has no escape for it: then the last handler serves. */
    private static boolean isPlain(String template) {
        return !template.contains("*");
    }

    /** They are tried in this order, which is that of the policy: at the first difference a literal comes before a parameter. */
    private static RouterFunction<ServerResponse> routes(List<String> templates) {
        HandlerFunction<ServerResponse> echo = request -> ServerResponse.ok().build((raw, response) -> {
            ServletServer.echo(raw, response);
            return null;
        });
        RouterFunctions.Builder routes = RouterFunctions.route();
        templates.stream()
                .sorted(Comparator.comparing(template -> template.replace('{', '~')))
                .forEach(template -> routes.route(RequestPredicates.path(renamed(template)), echo));
        // Spring Boot's own page for errors is not the service.
        return routes.route(RequestPredicates.path("/error").negate(), echo).build();
    }

    /** A template with one name for all parameters at one place, which every framework takes. */
    private static String renamed(String template) {
        String[] segments = template.split("/", -1);
        for (int at = 0; at < segments.length; at++) {
            segments[at] = segments[at].startsWith("{") ? "{p" + at + "}" : segments[at];
        }
        return String.join("/", segments);
    }
}
