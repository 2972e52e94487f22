package io.github.orbgate;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;

/** The arguments of questions from the JSON of a row, which has no escapes but {@code \n}, {@code \"} and {@code \\}. */
final class JsonArguments {
    private final String text;
    private int at;

    private JsonArguments(String text) {
        this.text = text;
    }

    static <T> T read(String json, Class<T> type) {
        return type.cast(new JsonArguments(json).value(type));
    }

    private Object value(Type type) {
        Class<?> raw = (Class<?>) (type instanceof ParameterizedType generic ? generic.getRawType() : type);
        if (raw == Optional.class) {
            return take("null") ? Optional.empty() : Optional.of(value(argument(type, 0)));
        } else if (raw == String.class) {
            return string();
        } else if (raw == boolean.class) {
            boolean is = take("true");
            expect(is || take("false"));
            return is;
        } else if (raw == List.class) {
            List<Object> list = new ArrayList<>();
            items("[", "]", () -> list.add(value(argument(type, 0))));
            return list;
        } else if (raw == Map.class) {
            Map<String, Object> map = new LinkedHashMap<>();
            members(name -> map.put(name, value(argument(type, 1))));
            return map;
        }
        return record(Json.SHAPES.get(raw));
    }

    private static Type argument(Type type, int index) {
        return ((ParameterizedType) type).getActualTypeArguments()[index];
    }

    private Object record(Json.Shape shape) {
        Map<String, Object> values = new LinkedHashMap<>();
        for (Json.Field field : shape.fields()) {
            values.put(field.name(), empty(field.component().getType()));
        }
        members(name -> {
            Json.Field field = shape.fields().stream().filter(known -> known.name().equals(name)).findFirst().orElseThrow();
            values.put(name, value(field.type()));
        });
        try {
            return shape.constructor().newInstance(values.values().toArray());
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static Object empty(Class<?> type) {
        Map<Class<?>, Object> empty = Map.of(Optional.class, Optional.empty(), OptionalLong.class, OptionalLong.empty(),
                boolean.class, false, Map.class, Map.of(), List.class, List.of(), String.class, "");
        return empty.get(type);
    }

    private void members(Consumer<String> each) {
        items("{", "}", () -> {
            String name = string();
            expect(take(":"));
            each.accept(name);
        });
    }

    private void items(String start, String end, Runnable each) {
        expect(take(start));
        for (boolean isFirst = true; !take(end); isFirst = false) {
            expect(isFirst || take(","));
            each.run();
        }
    }

    private String string() {
        StringBuilder string = new StringBuilder();
        for (expect(take("\"")); !take("\""); at++) {
            boolean isEscaped = take("\\");
            char unit = text.charAt(at);
            expect(!isEscaped || "n\"\\".indexOf(unit) >= 0);
            string.append(isEscaped && unit == 'n' ? '\n' : unit);
        }
        return string.toString();
    }

    private boolean take(String expected) {
        boolean is = text.startsWith(expected, at);
        at += is ? expected.length() : 0;
        return is;
    }

    private static void expect(boolean is) {
        if (!is) {
            throw new IllegalArgumentException("arguments");
        }
    }
}
