package io.github.orbgate.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.web.reactive.context.AnnotationConfigReactiveWebApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;

class NoReactiveGateTest {
    @Configuration
    @ImportAutoConfiguration(NoReactiveGate.class)
    static class Service {}

    @Test
    void aServiceOfWebFluxDoesNotStart() {
        try (AnnotationConfigReactiveWebApplicationContext context = new AnnotationConfigReactiveWebApplicationContext()) {
            context.register(Service.class);
            BeanCreationException refused = assertThrows(BeanCreationException.class, context::refresh);
            assertTrue(refused.getMostSpecificCause().getMessage().contains("WebFlux"), refused::toString);
        }
    }

    @Test
    void aProgramThatServesNothingStarts() {
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext(Service.class)) {
            assertEquals(0, context.getBeanNamesForType(NoReactiveGate.class).length);
        }
    }
}
