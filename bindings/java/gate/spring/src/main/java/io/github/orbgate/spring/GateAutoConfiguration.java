package io.github.orbgate.spring;

import io.github.orbgate.BonusOrbs;
import io.github.orbgate.Challenge;
import io.github.orbgate.Engine;
import io.github.orbgate.Gate;
import io.github.orbgate.Guard;
import io.github.orbgate.Handle;
import io.github.orbgate.servlet.GateFilter;
import io.github.orbgate.servlet.HandlerFilter;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.http.HttpClient;
import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.core.io.Resource;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.servlet.handler.MappedInterceptor;

/**
 * Puts a gate before every request of a service. Your own beans replace these: a {@link Handle} for the policy, a
 * {@link Guard} for the gate, for example a fake in tests, an {@link HttpClient} named {@code orbgateClient} for
 * fetching keys, and a {@link RequestBonus} that determines whether a request allows bonus orbs.
 */
@AutoConfiguration
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@EnableConfigurationProperties(GateProperties.class)
public class GateAutoConfiguration {
    private static final Logger AUDIT = LoggerFactory.getLogger("io.github.orbgate.audit");

    /** Called by Spring. */
    public GateAutoConfiguration() {}

    /** Whether a request allows bonus orbs. */
    @FunctionalInterface
    public interface RequestBonus extends Function<HttpServletRequest, BonusOrbs> {}

    /** The current policy. */
    @Bean
    @ConditionalOnMissingBean({Handle.class, Guard.class})
    Handle orbgatePolicy(GateProperties properties) {
        Resource policy = properties.policy();
        try (Engine engine = policy == null ? Engine.external() : read(policy, Engine::fromYaml)) {
            return new Handle(engine);
        }
    }

    /** The gate. */
    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean(Guard.class)
    Gate orbgateGate(
            GateProperties properties,
            Handle policy,
            ObjectProvider<GateCounters> counters,
            Map<String, HttpClient> clients) {
        if (properties.tokens() == null) {
            throw new IllegalStateException("`orbgate.tokens` must be the location of the token configuration");
        }
        Gate.Builder builder = read(properties.tokens(), tokens -> Gate.builder(policy, tokens));
        builder.challenge(new Challenge(
                properties.challenge(),
                Optional.ofNullable(properties.realm()),
                Optional.ofNullable(properties.resourceMetadata())));
        if (properties.flat403()) {
            builder.flat403();
        }
        if (properties.ignoreMethodOverride()) {
            builder.ignoreMethodOverride();
        }
        builder.publicRoutes(properties.publicRoutes()).corsPreflight(properties.corsPreflight());
        if (properties.audit()) {
            builder.audit(AUDIT::info);
        }
        if (clients.containsKey("orbgateClient")) {
            builder.client(clients.get("orbgateClient"));
        }
        counters.ifAvailable(builder::count);
        return builder.build();
    }

    @FunctionalInterface
    private interface Reader<T> {
        T read(InputStream content) throws IOException;
    }

    private static <T> T read(Resource resource, Reader<T> reader) {
        try (InputStream content = resource.getInputStream()) {
            return reader.read(content);
        } catch (IOException problem) {
            throw new UncheckedIOException("cannot read " + resource, problem);
        }
    }

    /** Before every other filter, whatever its order: some of Spring's filters have the highest precedence. */
    private static final class First extends FilterRegistrationBean<GateFilter> implements PriorityOrdered {
        First(GateFilter filter) {
            super(filter);
        }
    }

    /** The filter, for all paths, before every other. */
    @Bean
    FilterRegistrationBean<GateFilter> orbgateFilter(Guard gate, ObjectProvider<RequestBonus> bonus, GateProperties properties) {
        RequestBonus own = bonus.getIfAvailable();
        GateFilter gates = own != null ? new GateFilter(gate, own) : GateFilter.bonusFromBody(gate, properties.bonusFromBody());
        FilterRegistrationBean<GateFilter> filter = new First(gates);
        filter.setOrder(Ordered.HIGHEST_PRECEDENCE);
        filter.addInitParameter(GateFilter.WEBSOCKETS, "inside"); // Spring Boot adds Jetty's filter after all others.
        return forAll(filter);
    }

    /** The filter that denies requests which other filters have rewritten, after every other. */
    @Bean
    FilterRegistrationBean<HandlerFilter> orbgateHandlerFilter() {
        FilterRegistrationBean<HandlerFilter> filter = new FilterRegistrationBean<>(new HandlerFilter());
        filter.setOrder(Ordered.LOWEST_PRECEDENCE);
        filter.setMatchAfter(true); // Filters without an order have the lowest precedence, too.
        return forAll(filter);
    }

    private static <T extends Filter> FilterRegistrationBean<T> forAll(FilterRegistrationBean<T> filter) {
        filter.addUrlPatterns("/*");
        filter.setDispatcherTypes(EnumSet.allOf(DispatcherType.class));
        filter.setAsyncSupported(true);
        return filter;
    }

    /** Compares templates. Every handler mapping finds this bean by its type, including mappings outside Spring itself. */
    @Bean
    @ConditionalOnProperty(name = "orbgate.match-templates", matchIfMissing = true)
    MappedInterceptor orbgateInterceptor(WebApplicationContext context) {
        return new MappedInterceptor((String[]) null, new ComparedHandlers(context));
    }

    /** Compares the routes of the application with those of the policy, once all are registered. */
    @Bean
    SmartInitializingSingleton orbgateRoutesCheck(
            GateProperties properties, ObjectProvider<Gate> gate, ApplicationContext context) {
        return () -> {
            if (properties.matchTemplates()) {
                ServedRoutes.checkMappings(context);
            }
            gate.ifAvailable(real -> ServedRoutes.check(real, context, properties.checkRoutes()));
        };
    }
}
