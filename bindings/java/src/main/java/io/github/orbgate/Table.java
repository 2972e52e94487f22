package io.github.orbgate;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What a policy says of its routes and scopes, in Java's memory: so decisions have words for as long as they are kept, even
 * after their engine is closed.
 *
 * @param routes by number, from 1
 * @param scopes by number, from 1
 */
record Table(String digest, Route[] routes, Scope[] scopes) {
    /** The table of no policy. */
    static final Table NONE = new Table("", new Route[0], new Scope[0]);

    /**
     * A route.
     *
     * @param text {@code METHOD /template}
     * @param methods all methods of the template
     */
    record Route(String text, String api, long amount, List<String> methods) {
        String template() {
            return text.substring(text.indexOf(' ') + 1);
        }
    }

    /**
     * A scope.
     *
     * @param api the first by name, where several have it
     */
    record Scope(String name, String api, long amount) {}

    /** Null where a decision has none. */
    Route route(long packed) {
        int number = Layout.route(packed);
        return number == 0 ? null : routes[number - 1];
    }

    /** Null where a decision has none. */
    Scope scope(long packed) {
        int number = Layout.scope(packed);
        return number == 0 ? null : scopes[number - 1];
    }

    /** Reads it from an engine, which the caller keeps. */
    static Table read(long engine) {
        NativeBuffer out = new NativeBuffer(Math.max(Layout.Route.SIZE, Layout.Scope.SIZE));
        Core.check(Library.ABI.call("orbgate_engine_scope_count", engine, out.address));
        Scope[] scopes = new Scope[out.bytes.getInt(0)];
        Core.check(Library.ABI.call("orbgate_engine_route_count", engine, out.address));
        Route[] routes = new Route[out.bytes.getInt(0)];
        for (int index = 0; index < scopes.length; index++) {
            out.bytes.putInt(Layout.Scope.STRUCT_SIZE, Layout.Scope.SIZE);
            Core.check(Library.ABI.call("orbgate_engine_scope", engine, index + 1, out.address));
            scopes[index] = new Scope(
                    out.text(Layout.Scope.NAME), out.text(Layout.Scope.API), out.bytes.getLong(Layout.Scope.AMOUNT));
        }
        Map<String, List<String>> methods = new HashMap<>();
        for (int index = 0; index < routes.length; index++) {
            out.bytes.putInt(Layout.Route.STRUCT_SIZE, Layout.Route.SIZE);
            Core.check(Library.ABI.route(engine, index + 1, out.address));
            String text = out.text(Layout.Route.TEXT);
            long amount = out.bytes.getLong(Layout.Route.AMOUNT);
            // Routes of one api share its name.
            String api = out.text(Layout.Route.API).intern();
            Route route = new Route(text, api, amount, List.of());
            int number = index + 1;
            List<String> declared = methods.computeIfAbsent(route.template(), template -> methods(engine, number, out));
            routes[index] = new Route(text, api, amount, declared);
        }
        Core.check(Library.ABI.call("orbgate_engine_digest_text", engine, out.address));
        return new Table(out.text(0), routes, scopes);
    }

    private static List<String> methods(long engine, int number, NativeBuffer out) {
        List<String> methods = new ArrayList<>();
        while (Library.ABI.routeMethod(engine, number, methods.size(), out.address) == Layout.STATUS_OK) {
            methods.add(out.text(0));
        }
        return List.copyOf(methods);
    }
}
