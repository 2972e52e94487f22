package io.github.orbgate;

import java.util.List;
import java.util.Optional;

/**
 * A method and a path that a policy has, and what a call of it needs.
 *
 * @param id for {@link Engine#decideRoute}
 * @param method as in {@code GET}
 * @param template the path, the api's base path included, as in {@code /api/v1/external/voxies/{voxieId}}
 * @param scope the scope that a call needs
 * @param api the api that the route is in
 * @param methods all that the template declares, in alphabetical order
 * @param charge what an allowed call consumes, without bonus orbs; none where the policy states no orb column
 * @param line the line of the route in the policy's text, from 1
 * @param column the column in characters, from 1
 */
public record Route(
        RouteId id,
        String method,
        String template,
        String scope,
        String api,
        List<String> methods,
        Optional<Charge> charge,
        int line,
        int column) {}
