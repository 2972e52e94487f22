package io.github.orbgate.spring;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** Counts by Micrometer, under the names that every language's gate has. */
@AutoConfiguration(before = GateAutoConfiguration.class)
@ConditionalOnClass(MeterRegistry.class)
public class MeterAutoConfiguration {
    /** Makes it; Spring does. */
    public MeterAutoConfiguration() {}

    /** Counts in the application's registry, which may be made later than the gate. */
    @Bean
    @ConditionalOnMissingBean
    GateCounters orbgateCounters(ObjectProvider<MeterRegistry> registry) {
        return (counter, labels) -> registry.ifUnique(meters -> {
            List<Tag> tags = labels.entrySet().stream().map(label -> Tag.of(label.getKey(), label.getValue())).toList();
            meters.counter(counter, tags).increment();
        });
    }
}
