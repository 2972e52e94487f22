package io.github.orbgate.spring;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import java.util.List;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** Counts with Micrometer, under the same names as the gates of other languages. */
@AutoConfiguration(before = GateAutoConfiguration.class)
@ConditionalOnClass(MeterRegistry.class)
public class MeterAutoConfiguration {
    /** Called by Spring. */
    public MeterAutoConfiguration() {}

    /** Counts in the application's registry, which may be created later than the gate. */
    @Bean
    @ConditionalOnMissingBean
    GateCounters orbgateCounters(ObjectProvider<MeterRegistry> registry) {
        return (counter, labels) -> registry.ifUnique(meters -> {
            List<Tag> tags = labels.entrySet().stream().map(label -> Tag.of(label.getKey(), label.getValue())).toList();
            meters.counter(counter, tags).increment();
        });
    }
}
