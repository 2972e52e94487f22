package io.github.orbgate;

/** Whether a request says {@code allowBonusOrbsUse: true}. */
public enum BonusOrbs {
    /** It does not. */
    REFUSE(0),
    /** It does. */
    ALLOW(1);

    final int flags;

    BonusOrbs(int flags) {
        this.flags = flags;
    }
}
