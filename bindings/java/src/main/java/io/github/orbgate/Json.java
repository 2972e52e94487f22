package io.github.orbgate;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/** The records of {@link Questions} as JSON. */
final class Json {
    private Json() {}

    static String write(Object value) {
        StringBuilder json = new StringBuilder();
        write(json, value);
        return json.toString();
    }

    /** A record's fields. */
    record Shape(Constructor<?> constructor, List<Field> fields) {}

    record Field(String name, RecordComponent component, Type type, boolean isLeftOut) {}

    static final ClassValue<Shape> SHAPES = new ClassValue<>() {
        @Override
        protected Shape computeValue(Class<?> type) {
            RecordComponent[] components = type.getRecordComponents();
            Class<?>[] types = Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
            try {
                List<Field> fields = new ArrayList<>();
                for (RecordComponent component : components) {
                    String name = component.getName().replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
                    name = name.endsWith("_") ? name.substring(0, name.length() - 1) : name; // a word of Java
                    boolean isLeftOut = component.isAnnotationPresent(LeftOut.class);
                    fields.add(new Field(name, component, component.getGenericType(), isLeftOut));
                }
                return new Shape(type.getDeclaredConstructor(types), fields);
            } catch (NoSuchMethodException impossible) {
                throw new IllegalStateException(impossible);
            }
        }
    };

    private static void write(StringBuilder json, Object value) {
        if (value instanceof Optional<?> maybe) {
            write(json, maybe.orElse(null));
        } else if (value instanceof OptionalLong maybe) {
            json.append(maybe.isPresent() ? Long.toString(maybe.getAsLong()) : "null");
        } else if (value instanceof String string) {
            quote(json, string);
        } else if (value instanceof Collection<?> list) {
            json.append('[');
            list.forEach(item -> {
                separate(json, '[');
                write(json, item);
            });
            json.append(']');
        } else if (value instanceof Map<?, ?> map) {
            json.append('{');
            map.forEach((key, item) -> member(json, (String) key, item));
            json.append('}');
        } else if (value instanceof Record) {
            json.append('{');
            for (Field field : SHAPES.get(value.getClass()).fields) {
                Object item = get(field.component, value);
                if (!field.isLeftOut || !isEmpty(item)) {
                    member(json, field.name, item);
                }
            }
            json.append('}');
        } else {
            json.append(value);
        }
    }

    private static Object get(RecordComponent component, Object value) {
        try {
            return component.getAccessor().invoke(value);
        } catch (IllegalAccessException | InvocationTargetException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static boolean isEmpty(Object value) {
        return value.equals(Optional.empty()) || value.equals(OptionalLong.empty()) || value.equals("") || value.equals(false)
                || value.equals(List.of()) || value.equals(Map.of());
    }

    private static void member(StringBuilder json, String name, Object value) {
        separate(json, '{');
        quote(json, name);
        json.append(':');
        write(json, value);
    }

    private static void separate(StringBuilder json, char start) {
        if (json.charAt(json.length() - 1) != start) {
            json.append(',');
        }
    }

    private static void quote(StringBuilder json, String string) {
        json.append('"');
        for (int index = 0; index < string.length(); index++) {
            char unit = string.charAt(index);
            if (unit == '"' || unit == '\\') {
                json.append('\\').append(unit);
            } else if (unit == '\n') {
                json.append("\\n");
            } else if (unit < ' ') {
                json.append(String.format("\\u%04x", (int) unit));
            } else {
                json.append(unit);
            }
        }
        json.append('"');
    }
}
