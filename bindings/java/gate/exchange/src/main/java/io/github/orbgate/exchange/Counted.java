package io.github.orbgate.exchange;

import static java.util.stream.Collectors.joining;

import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;

/** What a gate has counted: of each counter, by its first label. */
final class Counted implements BiConsumer<String, Map<String, String>> {
    private static final Map<String, String> LABELS =
            Map.of("orbgate_decisions_total", "decision", "orbgate_tokens_refused_total", "reason", "orbgate_policy_loads_total", "result");

    private final Map<String, Map<String, Long>> counts = new TreeMap<>(Map.of("orbgate_policy_loads_total", new TreeMap<>()));
    private long misrouted;

    @Override
    public synchronized void accept(String counter, Map<String, String> labels) {
        if (counter.equals("orbgate_misrouted_total")) {
            misrouted++;
        } else if (LABELS.containsKey(counter)) {
            counts.computeIfAbsent(counter, name -> new TreeMap<>()).merge(labels.get(LABELS.get(counter)), 1L, Long::sum);
        }
    }

    /** As JSON. */
    @Override
    public synchronized String toString() {
        String all = counts.entrySet().stream()
                .map(counter -> "\"" + counter.getKey() + "\":" + json(counter.getValue()) + ",")
                .collect(joining());
        return "{" + all + "\"orbgate_misrouted_total\":" + misrouted + "}";
    }

    private static String json(Map<String, Long> counts) {
        return counts.entrySet().stream()
                .map(count -> "\"" + count.getKey() + "\":" + count.getValue())
                .collect(joining(",", "{", "}"));
    }
}
