package io.github.orbgate;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;

/** The records of {@link Questions} as JSON. It reads what the library writes, and skips fields that a later library may add. */
final class Json {
    private final String text;
    private int at;

    /** The next backslash; the text's length without one. */
    private int escape = -1;

    private Json(String text) {
        this.text = text;
    }

    static <T> T read(String json, Class<T> type) {
        Json reader = new Json(json);
        T value = type.cast(reader.value(type));
        if (reader.at != json.length()) {
            throw reader.wrong();
        }
        return value;
    }

    static String write(Object value) {
        StringBuilder json = new StringBuilder();
        write(json, value);
        return json.toString();
    }

    /** A record's fields. */
    private record Shape(Constructor<?> constructor, List<Field> fields) {}

    private record Field(String name, RecordComponent component, Type type, boolean isLeftOut) {}

    private static final ClassValue<Shape> SHAPES = new ClassValue<>() {
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

    private Object value(Type type) {
        Class<?> raw = (Class<?>) (type instanceof ParameterizedType generic ? generic.getRawType() : type);
        if (raw == Optional.class) {
            return take("null") ? Optional.empty() : Optional.of(value(argument(type, 0)));
        } else if (raw == OptionalLong.class) {
            return take("null") ? OptionalLong.empty() : OptionalLong.of(integer());
        } else if (raw == String.class) {
            return string();
        } else if (raw == long.class) {
            return integer();
        } else if (raw == boolean.class) {
            boolean is = take("true");
            if (!is) {
                expect("false");
            }
            return is;
        } else if (raw == List.class) {
            List<Object> list = new ArrayList<>();
            items('[', ']', () -> list.add(value(argument(type, 0))));
            return List.copyOf(list);
        } else if (raw == Map.class) {
            Map<String, Object> map = new LinkedHashMap<>();
            members(name -> map.put(name, value(argument(type, 1))));
            return Map.copyOf(map);
        }
        return record(raw);
    }

    private static Type argument(Type type, int index) {
        return ((ParameterizedType) type).getActualTypeArguments()[index];
    }

    private Object record(Class<?> type) {
        Shape shape = SHAPES.get(type);
        Object[] values = new Object[shape.fields.size()];
        members(name -> {
            for (int index = 0; index < values.length; index++) {
                if (shape.fields.get(index).name.equals(name)) {
                    values[index] = value(shape.fields.get(index).type);
                    return;
                }
            }
            skip();
        });
        for (int index = 0; index < values.length; index++) {
            if (values[index] == null) {
                values[index] = empty(shape.fields.get(index));
            }
        }
        try {
            return shape.constructor.newInstance(values);
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private Object empty(Field field) {
        Class<?> type = field.component.getType();
        if (!field.isLeftOut) {
            throw new OrbgateException("an answer has no field `" + field.name + "`");
        } else if (type == Optional.class) {
            return Optional.empty();
        } else if (type == OptionalLong.class) {
            return OptionalLong.empty();
        } else if (type == boolean.class) {
            return false;
        } else if (type == Map.class) {
            return Map.of();
        }
        return type == List.class ? List.of() : "";
    }

    private void skip() {
        char first = at < text.length() ? text.charAt(at) : 0;
        if (first == '"') {
            string();
        } else if (first == '[') {
            items('[', ']', this::skip);
        } else if (first == '{') {
            members(name -> skip());
        } else {
            int start = at;
            while (at < text.length() && ",]}".indexOf(text.charAt(at)) < 0) {
                at++;
            }
            if (at == start) {
                throw wrong();
            }
        }
    }

    private void members(Consumer<String> each) {
        items('{', '}', () -> {
            String name = string();
            expect(':');
            each.accept(name);
        });
    }

    private void items(char start, char end, Runnable each) {
        expect(start);
        for (boolean isFirst = true; !take(end); isFirst = false) {
            if (!isFirst) {
                expect(',');
            }
            each.run();
        }
    }

    private long integer() {
        int start = at;
        while (at < text.length() && Character.digit(text.charAt(at), 10) >= 0) {
            at++;
        }
        try {
            return Long.parseLong(text, start, at, 10);
        } catch (NumberFormatException notOne) {
            throw wrong();
        }
    }

    private String string() {
        expect('"');
        int start = at;
        int end = text.indexOf('"', start);
        if (escape < start) {
            escape = text.indexOf('\\', start);
            escape = escape < 0 ? text.length() : escape;
        }
        if (end >= 0 && end < escape) {
            at = end + 1;
            return text.substring(start, end);
        }
        StringBuilder string = new StringBuilder(text.substring(start, escape));
        at = escape;
        while (!take('"')) {
            if (at == text.length()) {
                throw wrong();
            }
            char unit = text.charAt(at++);
            string.append(unit == '\\' ? escape() : unit);
        }
        return string.toString();
    }

    private char escape() {
        char unit = at < text.length() ? text.charAt(at++) : 0;
        int plain = "\"\\/bfnrt".indexOf(unit);
        if (plain >= 0) {
            return "\"\\/\b\f\n\r\t".charAt(plain);
        }
        if (unit != 'u' || at + 4 > text.length()) {
            throw wrong();
        }
        at += 4;
        try {
            return (char) Integer.parseInt(text, at - 4, at, 16);
        } catch (NumberFormatException notOne) {
            throw wrong();
        }
    }

    private boolean take(String expected) {
        boolean is = text.startsWith(expected, at);
        at += is ? expected.length() : 0;
        return is;
    }

    private boolean take(char expected) {
        boolean is = at < text.length() && text.charAt(at) == expected;
        at += is ? 1 : 0;
        return is;
    }

    private void expect(char expected) {
        if (!take(expected)) {
            throw wrong();
        }
    }

    private void expect(String expected) {
        if (!take(expected)) {
            throw wrong();
        }
    }

    private OrbgateException wrong() {
        return new OrbgateException("an answer is not the JSON of this version, at " + at);
    }
}
