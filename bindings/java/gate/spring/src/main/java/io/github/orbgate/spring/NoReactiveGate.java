package io.github.orbgate.spring;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;

/** A service of WebFlux doesn't start, because the gate is a servlet filter and would see none of its requests. */
@AutoConfiguration
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
public class NoReactiveGate {
    /** Called by Spring. */
    public NoReactiveGate() {
        throw new IllegalStateException("orbgate-spring-boot-starter protects Spring MVC, and this application is a WebFlux application: "
                + "remove the starter, and put the service behind orbgate-gateway");
    }
}
