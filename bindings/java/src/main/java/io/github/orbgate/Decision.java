package io.github.orbgate;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * What was decided. A denial is an answer, not an error. Immutable, and good beyond the engine that made it.
 *
 * <p>The effect, the reason and the detail are there at once; the names and the amount are asked for when they are first
 * wanted, which takes a few microseconds.
 */
public final class Decision {
    private static final int CONSUMES = 2;
    private static final int AMOUNT_STATED = 4;
    private static final int BONUS_ALLOWED = 8;

    private final Core core;
    private final long packed;

    /** Made when it is first wanted; if two threads make it, both make the same. */
    private Core.Words words;

    Decision(Core core, long packed) {
        this.core = core;
        this.packed = packed;
    }

    /** Whether the call may be made. Nothing else lets it through. */
    public boolean isAllow() {
        return isAllow(packed);
    }

    static boolean isAllow(long packed) {
        return (packed & 3) == 2;
    }

    /** Why. */
    public Reason reason() {
        return Reason.of((int) (packed >> 48 & 31));
    }

    /** Which rule a malformed request breaks; none with every other reason. */
    public Optional<Detail> detail() {
        int number = (int) (packed >> 6 & 255);
        return number == 0 ? Optional.empty() : Optional.of(Detail.of(number));
    }

    /** The HTTP status of a denial, whose body is empty; 0 on an allow. */
    public int httpStatus() {
        return isAllow() ? 0 : reason().httpStatus();
    }

    /** What the call consumes; none on a denial, and where the policy states no orb column. */
    public Optional<Charge> charge() {
        int bits = (int) (packed >> 2 & 15);
        if (bits == 0) {
            return Optional.empty();
        }
        OptionalLong amount =
                (bits & AMOUNT_STATED) == 0 ? OptionalLong.empty() : OptionalLong.of(words().amount());
        return Optional.of(new Charge((bits & CONSUMES) != 0, amount, (bits & BONUS_ALLOWED) != 0));
    }

    /** The api of the route or scope. */
    public Optional<String> api() {
        return Optional.ofNullable(words().api());
    }

    /** {@code METHOD /template}; for {@code method_not_declared} the template alone. */
    public Optional<String> route() {
        return Optional.ofNullable(words().route());
    }

    /** The scope that the call needs. */
    public Optional<String> scope() {
        return Optional.ofNullable(words().scope());
    }

    /** The digest of the policy that decided, {@code sha256:…}. */
    public String policy() {
        return words().policy();
    }

    private Core.Words words() {
        Core.Words known = words;
        if (known == null) {
            known = core.words(packed);
            words = known;
        }
        return known;
    }

    /** Equal decisions of equal policies are equal. */
    @Override
    public boolean equals(Object other) {
        return other instanceof Decision that
                && packed == that.packed
                && (core == that.core || policy().equals(that.policy()));
    }

    @Override
    public int hashCode() {
        return Long.hashCode(packed);
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(isAllow() ? "allow" : "deny").append(": ").append(reason());
        detail().ifPresent(detail -> text.append(", ").append(detail));
        route().ifPresent(route -> text.append(", ").append(route));
        scope().ifPresent(scope -> text.append(", ").append(scope));
        return text.toString();
    }
}
