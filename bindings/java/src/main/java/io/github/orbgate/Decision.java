package io.github.orbgate;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** A decision. A denial is a decision, not an error. Immutable, and still valid after its engine is closed. */
public final class Decision {
    private final Table table;
    private final long packed;

    Decision(Table table, long packed) {
        this.table = table;
        this.packed = packed;
    }

    /** A decision for a fake {@link Policy}, allowed if the reason allows: without route, scope, charge and policy. */
    public static Decision of(Reason reason) {
        long effect = Objects.requireNonNull(reason, "reason").httpStatus() == 0 ? Layout.EFFECT_ALLOW : Layout.EFFECT_DENY;
        return new Decision(Table.NONE, (long) reason.ordinal() << 48 | effect);
    }

    /** Whether the call is allowed. No other property allows it. */
    public boolean isAllow() {
        return isAllow(packed);
    }

    static boolean isAllow(long packed) {
        return Layout.effect(packed) == Layout.EFFECT_ALLOW;
    }

    /** The reason. */
    public Reason reason() {
        return Reason.of(Layout.reason(packed));
    }

    /** Which rule a malformed request breaks; empty for every other reason. */
    public Optional<Detail> detail() {
        int number = Layout.detail(packed);
        return number == 0 ? Optional.empty() : Optional.of(Detail.of(number));
    }

    /** The HTTP status of a denial, whose body must be empty; 0 for an allow. */
    public int httpStatus() {
        return isAllow() ? 0 : reason().httpStatus();
    }

    /** The charge of the call; empty for a denial, and if the policy doesn't state it. */
    public Optional<Charge> charge() {
        return isAllow() ? Table.charge(Layout.charge(packed), amount()) : Optional.empty();
    }

    /** The amount that the policy states for the route, or for the scope without a route. */
    private long amount() {
        Table.Row route = table.route(packed);
        Table.Scope scope = table.scope(packed);
        return route != null ? route.amount() : scope != null ? scope.amount() : 0;
    }

    /** The API of the route. A decision by scope has the API of the scope; if several declare it, the first by name. */
    public Optional<String> api() {
        return switch (reason()) {
            case NO_TOKEN, INVALID_TOKEN -> Optional.empty();
            default -> found().map(Route::api).or(() -> Optional.ofNullable(table.scope(packed)).map(Table.Scope::api));
        };
    }

    /** {@code METHOD /template}; only the template for {@code method_not_declared}. */
    public Optional<String> route() {
        return switch (reason()) {
            case NO_TOKEN, INVALID_TOKEN -> Optional.empty();
            case METHOD_NOT_DECLARED -> found().map(Route::template);
            default -> row().map(Table.Row::text);
        };
    }

    /**
     * The route that the request matches, {@code METHOD /template}, even without a valid token: it shows which routes
     * were called without one. For logs, not for responses. Empty if no route has the path and the method, and for a
     * decision by scope.
     */
    public Optional<String> about() {
        return reason() == Reason.METHOD_NOT_DECLARED ? Optional.empty() : row().map(Table.Row::text);
    }

    /** The route, or the matching route if the decision does not reveal one. */
    private Optional<Table.Row> row() {
        return Optional.ofNullable(table.route(packed));
    }

    private Optional<Route> found() {
        return row().map(Table.Row::route);
    }

    /** The scope that owns the route, or that was asked for. The call needs it, or what {@link #scopes} lists. */
    public Optional<String> scope() {
        return Optional.ofNullable(table.scope(packed)).map(Table.Scope::name);
    }

    /**
     * The alternatives of a call that needs more or other than {@link #scope}: a token needs all scopes of one of them.
     * The owner's comes first, and begins with {@code scope}. Empty if the call needs just {@code scope}.
     */
    public List<List<String>> scopes() {
        List<List<String>> scopes = table.scope(packed) == null ? List.of() : found().map(Route::scopes).orElse(List.of());
        return scopes.size() > 1 || !scopes.isEmpty() && scopes.get(0).size() > 1 ? scopes : List.of();
    }

    /**
     * The methods that the request's path declares, in alphabetical order, for the {@code Allow} header of a 405. Empty
     * for every other reason than {@code method_not_declared}.
     */
    public List<String> declaredMethods() {
        return reason() == Reason.METHOD_NOT_DECLARED ? found().map(Route::methods).orElse(List.of()) : List.of();
    }

    /** The digest of the policy that decided, {@code sha256:…}. */
    public String policy() {
        return table.digest();
    }

    /** Equal decisions of equal policies are equal. */
    @Override
    public boolean equals(Object other) {
        return other instanceof Decision that
                && packed == that.packed
                && policy().equals(that.policy());
    }

    @Override
    public int hashCode() {
        return Long.hashCode(packed);
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(isAllow() ? Names.EFFECT_ALLOW : Names.EFFECT_DENY).append(": ").append(reason());
        detail().ifPresent(detail -> text.append(", ").append(detail));
        route().ifPresent(route -> text.append(", ").append(route));
        scope().ifPresent(scope -> text.append(", ").append(scope));
        return text.toString();
    }
}
