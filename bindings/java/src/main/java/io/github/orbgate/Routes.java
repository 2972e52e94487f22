package io.github.orbgate;

import java.util.ArrayList;
import java.util.List;

/** Compares the routes of a service with those of a policy. */
final class Routes {
    private Routes() {}

    /** Whether a route of a policy matches the same paths as a router's template: compares with a policy of only that route. */
    static boolean agree(String route, String template) {
        // From a policy with `trailing_slash: always`; the policy of the comparison has no such
        // slash.
        boolean endsInSlash = route.endsWith("/") && !route.endsWith(" /");
        if (endsInSlash != (template.endsWith("/") && !template.equals("/"))) {
            return false;
        }
        if (endsInSlash) {
            return agree(route.substring(0, route.length() - 1), template.substring(0, template.length() - 1));
        }
        String policy = "orbgate: 1\napis: {a: {base_path: '', scopes: {s: {orbs: false, routes: ['" + route.replace("'", "''") + "']}}}}";
        String method = route.substring(0, route.indexOf(' '));
        try (Engine engine = Engine.fromYaml(policy);
                Step step = new Step()) {
            return engine.open().during(pointer -> {
                check(step.ask(0, pointer, question(List.of(new ServiceRoute(method, template)))));
                return true;
            });
        } catch (RoutesException differ) {
            return false;
        }
    }

    static Messages.CheckRoutes question(List<ServiceRoute> routes) {
        Messages.CheckRoutes question = new Messages.CheckRoutes();
        question.routes = routes.stream().map(Routes::message).toList();
        return question;
    }

    private static Messages.ServiceRoute message(ServiceRoute route) {
        Messages.ServiceRoute message = new Messages.ServiceRoute();
        message.method = route.method();
        message.pathTemplate = route.template();
        return message;
    }

    /** Throws if there are differences. */
    static void check(Messages.Reply reply) {
        if (!(reply instanceof Messages.RouteDifferences compared)) {
            throw Wire.refused();
        }
        if (compared.differences.isEmpty()) {
            return;
        }
        List<RoutesException.Undeclared> undeclared = new ArrayList<>();
        List<String> unserved = new ArrayList<>();
        for (Messages.RouteDifference difference : compared.differences) {
            if (difference.kind == Layout.DIFFERENCE_UNDECLARED) {
                undeclared.add(new RoutesException.Undeclared(difference.route, Text.unlessEmpty(difference.decidedAs)));
            } else {
                unserved.add(difference.route);
            }
        }
        throw new RoutesException(undeclared, unserved);
    }
}
