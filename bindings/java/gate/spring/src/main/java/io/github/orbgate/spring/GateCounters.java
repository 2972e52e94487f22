package io.github.orbgate.spring;

import java.util.Map;
import java.util.function.BiConsumer;

/** Counts for the gate: by default with Micrometer, if present, unless you declare a bean. */
@FunctionalInterface
public interface GateCounters extends BiConsumer<String, Map<String, String>> {}
