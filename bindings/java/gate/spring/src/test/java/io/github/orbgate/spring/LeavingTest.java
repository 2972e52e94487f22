package io.github.orbgate.spring;

import io.github.orbgate.Leaving;
import io.github.orbgate.servlet.LeavingServlet;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/** An application of Spring Boot, whose callers leave. */
class LeavingTest {
    /** The application. */
    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {}

    @Test
    void callersLeaveAtEachWait() throws Exception {
        try (Leaving leaving = new Leaving()) {
            SpringApplication application = new SpringApplication(Application.class);
            application.setDefaultProperties(Map.of(
                    "server.address", "127.0.0.1",
                    "server.port", 0,
                    "spring.main.banner-mode", "off",
                    "logging.level.root", "off",
                    "orbgate.bonus-from-body", 4_096));
            application.addInitializers(context -> {
                var beans = context.getBeanFactory();
                beans.registerSingleton("orbgateGate", leaving.gate);
                beans.registerSingleton("servlet", new ServletRegistrationBean<>(new LeavingServlet(leaving), "/run"));
            });
            try (ConfigurableApplicationContext context = application.run()) {
                leaving.run(Integer.parseInt(context.getEnvironment().getRequiredProperty("local.server.port")));
            }
        }
    }
}
