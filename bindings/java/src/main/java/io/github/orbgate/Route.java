package io.github.orbgate;

import java.util.List;
import java.util.Optional;

/**
 * A method and a path of a policy, and the requirements of its calls.
 *
 * @param id for {@link Engine#decideRoute}
 * @param method for example {@code GET}
 * @param template the path including the base path of the API, for example {@code
 * /api/v1/external/voxies/{voxieId}}
 * @param scope the scope that owns the route
 * @param scopes the alternatives that a call needs: all scopes of one of them. The owner's comes first, and begins with
 * {@code scope}; most routes need only {@code scope}
 * @param api the API of the route
 * @param methods all methods that the template declares, in alphabetical order
 * @param charge what an allowed call consumes, without bonus orbs
 * @param line the line of the route in the policy file, from 1
 * @param column the column in characters, from 1
 */
public record Route(
        RouteId id,
        String method,
        String template,
        String scope,
        List<List<String>> scopes,
        String api,
        List<String> methods,
        Optional<Charge> charge,
        int line,
        int column) {}
