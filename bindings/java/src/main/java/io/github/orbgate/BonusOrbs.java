package io.github.orbgate;

/** Whether a request says {@code allowBonusOrbsUse: true}. */
public enum BonusOrbs {
    /** It does not. */
    REFUSE(0),
    /** It does. */
    ALLOW(Layout.ALLOW_BONUS_ORBS);

    final int flags;

    /** What the whole body of a request says: {@code ALLOW} if it is a JSON object that says so, once. */
    public static BonusOrbs in(byte[] body) {
        NativeBuffer out = new NativeBuffer(1);
        Core.check(Library.ABI.call("orbgate_allows_bonus_orbs", body, (long) body.length, out.address));
        return out.bytes.get(0) == 1 ? ALLOW : REFUSE;
    }

    BonusOrbs(int flags) {
        this.flags = flags;
    }
}
