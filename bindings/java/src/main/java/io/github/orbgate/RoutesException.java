package io.github.orbgate;

import static java.util.stream.Collectors.joining;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** A service and its policy have different routes. The message has a line for each difference. */
public final class RoutesException extends OrbgateException {
    private static final long serialVersionUID = 1;

    private final transient List<Undeclared> undeclared;
    private final transient List<String> unserved;

    /**
     * A route that is missing in the policy, so that no gate protects it.
     *
     * @param route for example {@code GET /users/export}
     * @param decidedAs the policy's route that decides its requests; empty if they are denied
     */
    public record Undeclared(String route, Optional<String> decidedAs) {
        private String line() {
            String line = "the policy has no `" + route + "`";
            return decidedAs.map(other -> line + ", and decides it as `" + other + "`").orElse(line);
        }
    }

    RoutesException(List<Undeclared> undeclared, List<String> unserved) {
        super(Stream.of(
                        Stream.of("the service and its policy have different routes"),
                        undeclared.stream().map(Undeclared::line),
                        unserved.stream().map(route -> "the service has no `" + route + "`"))
                .flatMap(lines -> lines)
                .collect(joining("\n")));
        this.undeclared = List.copyOf(undeclared);
        this.unserved = List.copyOf(unserved);
    }

    /** The routes that are missing in the policy. */
    public List<Undeclared> undeclared() {
        return undeclared == null ? List.of() : undeclared;
    }

    /** The routes that are missing in the service, which is harmless if several services share a policy. */
    public List<String> unserved() {
        return unserved == null ? List.of() : unserved;
    }
}
