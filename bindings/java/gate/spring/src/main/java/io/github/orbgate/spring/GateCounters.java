package io.github.orbgate.spring;

import java.util.Map;
import java.util.function.BiConsumer;

/** Who counts for the gate: Micrometer, where it is there, unless a bean of yours does. */
@FunctionalInterface
public interface GateCounters extends BiConsumer<String, Map<String, String>> {}
