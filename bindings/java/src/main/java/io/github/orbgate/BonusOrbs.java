package io.github.orbgate;

/** Whether a request says {@code allowBonusOrbsUse: true}. */
public enum BonusOrbs {
    /** It does not. */
    REFUSE(0),
    /** It does. */
    ALLOW(Layout.ALLOW_BONUS_ORBS);

    final int flags;

    BonusOrbs(int flags) {
        this.flags = flags;
    }
}
