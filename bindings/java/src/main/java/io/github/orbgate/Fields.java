package io.github.orbgate;

import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
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
        // end of names
    };

    static <T> T read(byte[] fields, Class<T> type) {
        return type.cast(record(new Wire.Reader(fields), type));
    }

    private static Object record(Wire.Reader fields, Class<?> type) {
        Json.Shape shape = Json.SHAPES.get(type);
        Object[] values = new Object[shape.fields().size()];
        while (fields.hasNext()) {
            int number = fields.next();
            String name = number >= 0 && number < NAMES.length ? NAMES[number] : "";
            for (int index = 0; index < values.length; index++) {
                Json.Field field = shape.fields().get(index);
                if (field.name().equals(name)) {
                    values[index] = value(fields, field.type(), values[index]);
                    break;
                }
            }
        }
        for (int index = 0; index < values.length; index++) {
            values[index] = values[index] == null ? empty(shape.fields().get(index)) : unmodifiable(values[index]);
        }
        try {
            return shape.constructor().newInstance(values);
        } catch (ReflectiveOperationException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** The value of the current field, which a list adds to what came before. */
    private static Object value(Wire.Reader field, Type type, Object before) {
        Class<?> raw = (Class<?>) (type instanceof ParameterizedType generic ? generic.getRawType() : type);
        if (raw == Optional.class) {
            Object inner = before instanceof Optional<?> maybe ? maybe.orElse(null) : null;
            return Optional.of(value(field, argument(type), inner));
        } else if (raw == OptionalLong.class) {
            return OptionalLong.of(field.integer());
        } else if (raw == String.class) {
            return field.text();
        } else if (raw == long.class) {
            return field.integer();
        } else if (raw == boolean.class) {
            return field.isThere();
        } else if (raw == List.class) {
            @SuppressWarnings("unchecked")
            List<Object> list = before == null ? new ArrayList<>() : (List<Object>) before;
            list.add(item(field, argument(type)));
            return list;
        }
        return record(field.part(), raw);
    }

    private static Object item(Wire.Reader field, Type type) {
        if (!(type instanceof ParameterizedType)) {
            return value(field, type, null);
        }
        List<Object> list = new ArrayList<>();
        for (Wire.Reader items = field.part(); items.hasNext(); ) {
            items.next();
            list.add(value(items, argument(type), null));
        }
        return List.copyOf(list);
    }

    private static Object unmodifiable(Object value) {
        if (value instanceof Optional<?> maybe) {
            return maybe.map(Fields::unmodifiable);
        }
        return value instanceof List<?> list ? List.copyOf(list) : value;
    }

    private static Type argument(Type type) {
        return ((ParameterizedType) type).getActualTypeArguments()[0];
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
