package io.github.orbgate;

/**
 * Decides requests: an {@link Engine}, a {@link Handle}, or a fake in tests that returns {@link Decision#of}. Pass
 * methods and targets as received in the request line, neither decoded nor normalised.
 */
@FunctionalInterface
public interface Policy {
    /** Decides a request given as bytes. Deny where you catch an exception. */
    Decision decide(byte[] method, byte[] target, Token token, BonusOrbs bonus);

    /** Decides a request. Only the beginning of a string of more than 65,536 characters is read: its length denies it. */
    default Decision decide(String method, String target, Token token, BonusOrbs bonus) {
        return decide(Text.ofRequest(method, "method"), Text.ofRequest(target, "target"), token, bonus);
    }

    /** Decides a request without bonus orbs. */
    default Decision decide(String method, String target, Token token) {
        return decide(method, target, token, BonusOrbs.REFUSE);
    }
}
