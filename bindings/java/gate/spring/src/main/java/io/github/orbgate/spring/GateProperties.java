package io.github.orbgate.spring;

import io.github.orbgate.Challenge;
import io.github.orbgate.CorsPreflight;
import java.util.List;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.core.io.Resource;

/**
 * The properties {@code orbgate.*}.
 *
 * @param policy the location of the policy, such as file:policy.yaml; by default the policy that is compiled
 * into the library
 * @param tokens the location of the token configuration, such as classpath:tokens.yaml
 * @param challenge the content of WWW-Authenticate on a denial
 * @param realm the realm of a full challenge
 * @param resourceMetadata the URL of the service's metadata in a full challenge
 * @param flat403 whether every denial is a 403
 * @param ignoreMethodOverride whether to allow headers that override the method: only if nothing obeys them
 * @param publicRoutes routes that need no token, such as GET /actuator/health
 * @param corsPreflight whether CORS preflight requests for declared routes pass
 * @param bonusFromBody the number of bytes that are read from the body of an allowed request, to find "allowBonusOrbsUse": true; with 0,
 * no body is read
 * @param checkRoutes whether startup fails if the policy lacks a route of the application; otherwise it warns
 * @param matchTemplates whether Spring must route a request to the template that the policy allows
 * @param audit whether the logger io.github.orbgate.audit receives a line of JSON for each decision
 */
@ConfigurationProperties("orbgate")
public record GateProperties(
        Resource policy,
        Resource tokens,
        @DefaultValue("MINIMAL") Challenge.Extent challenge,
        String realm,
        String resourceMetadata,
        @DefaultValue("false") boolean flat403,
        @DefaultValue("false") boolean ignoreMethodOverride,
        @DefaultValue List<String> publicRoutes,
        @DefaultValue("DENY") CorsPreflight corsPreflight,
        @DefaultValue("0") int bonusFromBody,
        @DefaultValue("true") boolean checkRoutes,
        @DefaultValue("true") boolean matchTemplates,
        @DefaultValue("false") boolean audit) {}
