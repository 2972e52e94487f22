package io.github.orbgate;

import java.lang.ref.Reference;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

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
        try (Engine engine = Engine.fromYaml(policy)) {
            return engine.open().during(pointer -> {
                check(0, pointer, List.of(new ServiceRoute(method, template)));
                return true;
            });
        } catch (RoutesException differ) {
            return false;
        }
    }

    /** With the public routes of a gate; 0 means none. */
    static void check(long gate, long engine, List<ServiceRoute> routes) {
        List<byte[]> methods = routes.stream().map(route -> Text.ofRequest(route.method(), "method")).toList();
        List<byte[]> templates = routes.stream().map(route -> Text.ofRequest(route.template(), "template")).toList();
        NativeBuffer buffer = new NativeBuffer(8 + Texts.room(Stream.concat(methods.stream(), templates.stream()).toList()));
        int templatesAt = 8 + methods.size() * Layout.Str.SIZE;
        Texts texts = new Texts(buffer, templatesAt + templates.size() * Layout.Str.SIZE);
        texts.putAll(8, methods);
        texts.putAll(templatesAt, templates);
        long methodsAt = buffer.address + 8;
        long paths = buffer.address + templatesAt;
        long count = methods.size();
        Core.check(
                gate == 0
                        ? Library.ABI.call(
                                "orbgate_engine_check_routes", engine, methodsAt, paths, count, Layout.TEMPLATES_BRACES, buffer.address)
                        : Library.ABI.call("orbgate_gate_check_routes", gate, engine, methodsAt, paths, count, buffer.address));
        long differences = buffer.bytes.getLong(0);
        Reference.reachabilityFence(buffer);
        if (differences != 0) {
            try {
                throw found(differences);
            } finally {
                Library.ABI.call("orbgate_route_differences_free", differences);
            }
        }
    }

    private static RoutesException found(long differences) {
        List<RoutesException.Undeclared> undeclared = new ArrayList<>();
        List<String> unserved = new ArrayList<>();
        NativeBuffer one = NativeBuffer.struct(Layout.RouteDifference.SIZE);
        long index = 0;
        while (true) {
            int status = Library.ABI.call("orbgate_route_difference", differences, index++, one.address);
            if (status == Layout.STATUS_NOT_FOUND) {
                return new RoutesException(undeclared, unserved);
            }
            Core.check(status);
            String route = one.text(Layout.RouteDifference.ROUTE);
            if (one.bytes.getInt(Layout.RouteDifference.KIND) == Layout.DIFFERENCE_UNDECLARED) {
                Optional<String> decidedAs = Optional.ofNullable(one.text(Layout.RouteDifference.DECIDED_AS));
                undeclared.add(new RoutesException.Undeclared(route, decidedAs));
            } else {
                unserved.add(route);
            }
        }
    }
}
