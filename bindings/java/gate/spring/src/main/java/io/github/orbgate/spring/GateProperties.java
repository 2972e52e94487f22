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
 * @param policy where the policy is, as file:policy.yaml; without it the one that is compiled into the library
 * @param tokens where the configuration of tokens is, as classpath:tokens.yaml
 * @param challenge how much a denied caller is told in WWW-Authenticate
 * @param realm the realm of a full challenge
 * @param resourceMetadata the URL of the service's metadata in a full challenge
 * @param flat403 whether every denial is a 403
 * @param ignoreMethodOverride whether a header that overrides the method is allowed: only if nothing obeys it
 * @param publicRoutes routes that need no token, as GET /actuator/health
 * @param corsPreflight whether CORS preflight requests for declared routes pass
 * @param checkRoutes whether the application ends at its start if it has a route that the policy lacks; otherwise it warns
 * @param matchTemplates whether Spring must route a request to the template that the policy allows
 * @param audit whether the logger io.github.orbgate.audit gets a line of JSON for each decision
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
        @DefaultValue("true") boolean checkRoutes,
        @DefaultValue("true") boolean matchTemplates,
        @DefaultValue("false") boolean audit) {}
