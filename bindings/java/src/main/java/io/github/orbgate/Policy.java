package io.github.orbgate;

/**
 * What answers requests: an {@link Engine}, a {@link Handle}, or a fake of a test's own, with {@link Decision#of} for its answers.
 * Methods and targets are those of the request line as they came over the wire, neither decoded nor normalised.
 */
@FunctionalInterface
public interface Policy {
    /** Decides a request that is there in bytes. A caller that catches what this throws must deny. */
    Decision decide(byte[] method, byte[] target, Token token, BonusOrbs bonus);

    /** Decides a request. Of a text of more than 65,536 characters the beginning is read: it is denied for its length. */
    default Decision decide(String method, String target, Token token, BonusOrbs bonus) {
        return decide(Text.ofRequest(method, "method"), Text.ofRequest(target, "target"), token, bonus);
    }

    /** Decides a request without bonus orbs. */
    default Decision decide(String method, String target, Token token) {
        return decide(method, target, token, BonusOrbs.REFUSE);
    }
}
