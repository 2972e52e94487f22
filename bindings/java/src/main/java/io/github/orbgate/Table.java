package io.github.orbgate;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The routes and scopes of a policy, in Java's memory, so that a decision's strings stay valid after its engine is
 * closed.
 *
 * @param name null if the policy has none
 * @param routes by number, from 1; then the closed templates, which have no id, method and scope
 * @param routeCount without the closed templates
 * @param scopes by number, from 1
 */
record Table(
        String digest,
        String name,
        boolean hasEndMarker,
        boolean isSealed,
        Row[] routes,
        int routeCount,
        Scope[] scopes) {
    /** The table of no policy. */
    static final Table NONE = new Table("", null, false, false, new Row[0], 0, new Scope[0]);

    /**
     * A route, with the data that decisions need.
     *
     * @param text {@code METHOD /template}
     * @param amount the amount in a decision's charge
     */
    record Row(Route route, String text, long amount) {}

    /**
     * A scope.
     *
     * @param api the first by name, if several have it
     */
    record Scope(String name, String api, long amount) {}

    /** The route of a packed decision; null if it has none. */
    Row route(long packed) {
        int number = Layout.route(packed);
        return number == 0 ? null : routes[number - 1];
    }

    /** The scope of a packed decision; null if it has none. */
    Scope scope(long packed) {
        int number = Layout.scope(packed);
        return number == 0 ? null : scopes[number - 1];
    }

    /** Reads it from an engine, which the caller keeps. */
    static Table read(long engine) {
        NativeBuffer out = new NativeBuffer(Math.max(Layout.Route.SIZE, Layout.Scope.SIZE));
        NativeBuffer info = NativeBuffer.struct(Layout.EngineInfo.SIZE);
        Core.check(Library.ABI.call("orbgate_engine_info", engine, info.address));
        Scope[] scopes = new Scope[info.bytes.getInt(Layout.EngineInfo.SCOPE_COUNT)];
        int routeCount = info.bytes.getInt(Layout.EngineInfo.ROUTE_COUNT);
        List<Row> routes = new ArrayList<>(routeCount);
        for (int index = 0; index < scopes.length; index++) {
            out.bytes.putInt(Layout.Scope.STRUCT_SIZE, Layout.Scope.SIZE);
            Core.check(Library.ABI.call("orbgate_engine_scope", engine, index + 1, out.address));
            scopes[index] = new Scope(
                    out.text(Layout.Scope.NAME), out.text(Layout.Scope.API), out.bytes.getLong(Layout.Scope.AMOUNT));
        }
        Map<String, List<String>> methods = new HashMap<>();
        NativeBuffer text = new NativeBuffer(Layout.Str.SIZE);
        for (int number = 1; number <= routeCount; number++) {
            out.bytes.putInt(Layout.Route.STRUCT_SIZE, Layout.Route.SIZE);
            Core.check(Library.ABI.route(engine, number, out.address));
            routes.add(row(out, alternatives(engine, number, text), scopes, methods));
        }
        out.bytes.putInt(Layout.Route.STRUCT_SIZE, Layout.Route.SIZE);
        while (Library.ABI.route(engine, routes.size() + 1, out.address) == 0) {
            String template = out.text(Layout.Route.TEXT);
            Route closed = new Route(
                    new RouteId(0, 0), "", template, "", List.of(), out.text(Layout.Route.API), List.of(), Optional.empty(), 0, 0);
            routes.add(new Row(closed, template, 0));
            out.bytes.putInt(Layout.Route.STRUCT_SIZE, Layout.Route.SIZE);
        }
        return new Table(
                info.text(Layout.EngineInfo.DIGEST),
                info.text(Layout.EngineInfo.NAME),
                info.bytes.get(Layout.EngineInfo.HAS_END_MARKER) == 1,
                info.bytes.get(Layout.EngineInfo.IS_SEALED) == 1,
                routes.toArray(Row[]::new),
                routeCount,
                scopes);
    }

    /** A route from the library's struct. A template's methods, written {@code GET, POST}, are kept once. */
    private static Row row(
            NativeBuffer struct, List<List<String>> alternatives, Scope[] scopes, Map<String, List<String>> methods) {
        ByteBuffer fields = struct.bytes;
        String text = struct.text(Layout.Route.TEXT);
        int space = text.indexOf(' ');
        String template = text.substring(space + 1);
        long amount = fields.getLong(Layout.Route.AMOUNT);
        Route route = new Route(
                new RouteId(
                        fields.getLong(Layout.Route.ID + Layout.RouteId.HIGH),
                        fields.getLong(Layout.Route.ID + Layout.RouteId.LOW)),
                text.substring(0, space),
                template,
                scopes[fields.getInt(Layout.Route.SCOPE_NUMBER) - 1].name(),
                alternatives,
                struct.text(Layout.Route.API).intern(), // routes of one api share its name
                methods.computeIfAbsent(template, first -> List.of(struct.text(Layout.Route.METHODS).split(", "))),
                charge(fields.getInt(Layout.Route.CHARGE), amount),
                fields.getInt(Layout.Route.LINE),
                fields.getInt(Layout.Route.COLUMN));
        return new Row(route, text, amount);
    }

    /** The alternatives that a route needs. */
    private static List<List<String>> alternatives(long engine, int number, NativeBuffer text) {
        List<List<String>> alternatives = new ArrayList<>(1);
        while (Library.ABI.call(
                        "orbgate_engine_route_alternative", engine, number, (long) alternatives.size(), text.address)
                == 0) {
            alternatives.add(List.of(text.text(0).split(" ")));
        }
        return List.copyOf(alternatives);
    }

    /** A charge from its bits. The amount is meaningful only if a bit states that. */
    static Optional<Charge> charge(int bits, long amount) {
        if ((bits & Layout.CHARGE_STATED) == 0) {
            return Optional.empty();
        }
        boolean isStated = (bits & Layout.CHARGE_AMOUNT_STATED) != 0;
        return Optional.of(new Charge(
                (bits & Layout.CHARGE_CONSUMES) != 0,
                isStated ? OptionalLong.of(amount) : OptionalLong.empty(),
                (bits & Layout.CHARGE_BONUS_ALLOWED) != 0));
    }
}
