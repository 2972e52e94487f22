package io.github.orbgate.exchange;

import static java.util.stream.Collectors.joining;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;

/** What a gate has counted: of each counter, by its labels. */
final class Counted implements BiConsumer<String, Map<String, String>> {
    private static final Map<String, List<String>> LABELS = Map.of(
            "orbgate_decisions_total", List.of("decision", "reason", "route"),
            "orbgate_tokens_refused_total", List.of("reason"),
            "orbgate_policy_loads_total", List.of("result"));

    private final Map<String, Map<String, Long>> counts = new TreeMap<>(Map.of("orbgate_policy_loads_total", new TreeMap<>()));
    private long misrouted;

    @Override
    public synchronized void accept(String counter, Map<String, String> labels) {
        if (counter.equals("orbgate_misrouted_total")) {
            misrouted++;
        } else if (LABELS.containsKey(counter)) {
            String values = LABELS.get(counter).stream().map(labels::get).collect(joining(" "));
            counts.computeIfAbsent(counter, name -> new TreeMap<>()).merge(values, 1L, Long::sum);
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
