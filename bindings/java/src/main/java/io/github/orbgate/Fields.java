package io.github.orbgate;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** The answers of {@link Questions} from the fields that the library writes. It skips those that a later library may add. */
final class Fields {
    private Fields() {}

    /** The name of each field, at its number. */
    private static final String[] NAMES = {
        // cargo xtask codes: names
        "", "files", "file", "policy", "diagnostics", "location", "line", "column", "message", "warnings", "old", "new", "verdict",
        "widens", "complete", "left_out", "changes", "asked", "method", "target", "scope", "token", "kind", "scopes",
        "allow_bonus_orbs_use", "before", "route", "orbs", "consumes", "amount", "organisation", "after", "wider", "narrower", "cost",
        "payer", "removed", "fails", "decision", "status", "reason", "detail", "api", "bonus_allowed", "missing_step", "alternatives",
        "lacking", "orbs_if_allowed", "in_order", "rules", "rule", "state", "near", "why", "meant", "findings", "code", "level", "other",
        "suppressed", "calls", "is_smallest", "needs", "first", "at", "call", "refusals", "allowed", "name", "apis", "closed", "template",
        "permits", "routes", "headings", "without_token", "unused", "granted", "used", "needed", "in_policy", "last", "time", "tokens",
        "earned",
        // end of names
    };

    static <T> T read(byte[] fields, Class<T> type) {
        return type.cast(record(ByteBuffer.wrap(fields), type));
    }

    /** Takes a field: its number, and its bytes. */
    private interface Take {
        void field(int number, ByteBuffer bytes);
    }

    private static void each(ByteBuffer fields, Take take) {
        fields.order(ByteOrder.LITTLE_ENDIAN);
        while (fields.hasRemaining()) {
            if (fields.remaining() < 2 * Integer.BYTES) {
                throw Wire.refused();
            }
            int number = fields.getInt();
            int length = fields.getInt();
            if (length < 0 || length > fields.remaining()) {
                throw Wire.refused();
            }
            take.field(number, fields.slice(fields.position(), length));
            fields.position(fields.position() + length);
        }
    }

    private static Object record(ByteBuffer fields, Class<?> type) {
        Json.Shape shape = Json.SHAPES.get(type);
        Object[] values = new Object[shape.fields().size()];
        each(fields, (number, bytes) -> {
            String name = number >= 0 && number < NAMES.length ? NAMES[number] : "";
            for (int index = 0; index < values.length; index++) {
                Json.Field field = shape.fields().get(index);
                if (field.name().equals(name)) {
                    values[index] = value(bytes, field.type(), values[index]);
                    break;
                }
            }
        });
        for (int index = 0; index < values.length; index++) {
            values[index] = values[index] == null ? empty(shape.fields().get(index)) : unmodifiable(values[index]);
        }
        try {
            return shape.constructor().newInstance(values);
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** The value of a field, which a list adds to what came before. Another field is there once. */
    private static Object value(ByteBuffer field, Type type, Object before) {
        Class<?> raw = (Class<?>) (type instanceof ParameterizedType generic ? generic.getRawType() : type);
        if (before != null && raw != List.class && raw != Optional.class) {
            throw Wire.refused();
        } else if (raw == Optional.class) {
            Object inner = before instanceof Optional<?> maybe ? maybe.orElse(null) : null;
            return Optional.of(value(field, argument(type), inner));
        } else if (raw == OptionalLong.class) {
            return OptionalLong.of(integer(field));
        } else if (raw == String.class) {
            return StandardCharsets.UTF_8.decode(field).toString();
        } else if (raw == long.class) {
            return integer(field);
        } else if (raw == boolean.class) {
            if (field.hasRemaining()) {
                throw Wire.refused();
            }
            return true;
        } else if (raw == List.class) {
            @SuppressWarnings("unchecked")
            List<Object> list = before == null ? new ArrayList<>() : (List<Object>) before;
            list.add(item(field, argument(type)));
            return list;
        }
        return record(field, raw);
    }

    private static long integer(ByteBuffer field) {
        if (field.remaining() != Long.BYTES) {
            throw Wire.refused();
        }
        return field.order(ByteOrder.LITTLE_ENDIAN).getLong();
    }

    private static Object item(ByteBuffer field, Type type) {
        if (!(type instanceof ParameterizedType)) {
            return value(field, type, null);
        }
        List<Object> list = new ArrayList<>();
        each(field, (number, bytes) -> list.add(value(bytes, argument(type), null)));
        return List.copyOf(list);
    }

    private static Type argument(Type type) {
        return ((ParameterizedType) type).getActualTypeArguments()[0];
    }

    private static Object unmodifiable(Object value) {
        if (value instanceof Optional<?> maybe) {
            return maybe.map(Fields::unmodifiable);
        }
        return value instanceof List<?> list ? List.copyOf(list) : value;
    }

    private static Object empty(Json.Field field) {
        Class<?> type = field.component().getType();
        if (type == Optional.class) {
            return Optional.empty();
        } else if (type == OptionalLong.class) {
            return OptionalLong.empty();
        } else if (type == boolean.class) {
            return false;
        } else if (type == List.class) {
            return List.of();
        } else if (field.isLeftOut()) {
            return "";
        }
        throw new OrbgateException("an answer has no field `" + field.name() + "`");
    }
}
