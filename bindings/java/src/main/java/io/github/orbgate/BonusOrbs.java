package io.github.orbgate;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/** Whether a request contains {@code allowBonusOrbsUse: true}. */
public enum BonusOrbs {
    /** It doesn't. */
    REFUSE(0),
    /** It does. */
    ALLOW(Layout.ALLOW_BONUS_ORBS),
    /** Nobody has read it: decided like {@code REFUSE}, but {@code bonus_allowed} is null in an audit. */
    UNREAD(0);

    private static final AtomicBoolean SAID = new AtomicBoolean();

    final int flags;

    /** The result of a service's function; {@code REFUSE} if it throws, which is logged once. */
    static BonusOrbs of(Supplier<BonusOrbs> bonus) {
        try {
            return Objects.requireNonNull(bonus.get(), "bonus");
        } catch (Throwable failed) { // A lambda can throw anything, such as the error of a class that is missing.
            if (!SAID.getAndSet(true)) {
                // Not a constant: programs that only decide need no logging.
                System.Logger logger = new QuietLogger(System.getLogger(BonusOrbs.class.getName()));
                logger.log(System.Logger.Level.ERROR, "no request gets bonus orbs if the function for them fails", failed);
            }
            return REFUSE;
        }
    }

    /** Reads the complete body of a request: {@code ALLOW} if it is a JSON object that allows bonus orbs, once. */
    public static BonusOrbs in(byte[] body) {
        NativeBuffer out = new NativeBuffer(1);
        Core.check(Library.ABI.call("orbgate_allows_bonus_orbs", body, (long) body.length, out.address));
        return out.bytes.get(0) == 1 ? ALLOW : REFUSE;
    }

    BonusOrbs(int flags) {
        this.flags = flags;
    }
}
