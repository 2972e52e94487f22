package io.github.orbgate;

import java.lang.ref.Reference;
import java.util.Objects;

/**
 * An owner of a native engine. Its memory is given back when nothing refers to it any more: so a call under way, a
 * handle and a decision keep it, and nobody can ask what is gone.
 */
final class Core {
    final long engine;

    Core(long engine) {
        this.engine = engine;
        Library.CLEANER.register(this, () -> Library.ABI.call("orbgate_engine_free", engine));
    }

    Decision decide(byte[] method, byte[] target, Token token, BonusOrbs bonus) {
        try {
            return decided(
                    Library.ABI.decide(
                            engine, method, target, token.kind, token.scopes, token.scopeSet(), bonus.flags));
        } finally {
            keep(token);
        }
    }

    Decision decideRoute(RouteId route, Token token, BonusOrbs bonus) {
        try {
            return decided(
                    Library.ABI.decideRoute(
                            engine, route.bits(), token.kind, token.scopes, token.scopeSet(), bonus.flags));
        } finally {
            keep(token);
        }
    }

    Decision decideScope(byte[] scope, Token token, BonusOrbs bonus) {
        try {
            return decided(
                    Library.ABI.decideScope(
                            engine, scope, token.kind, token.scopes, token.scopeSet(), bonus.flags));
        } finally {
            keep(token);
        }
    }

    private void keep(Token token) {
        Reference.reachabilityFence(token);
        Reference.reachabilityFence(this);
    }

    private Decision decided(long packed) {
        if ((packed & 3) == 0) {
            check((int) (packed >> 48 & 31));
        }
        return new Decision(this, packed);
    }

    /** One of the texts of the engine, by the function that gives it; null where there is none. */
    String text(String function) {
        NativeBuffer out = new NativeBuffer(16);
        try {
            check(Library.ABI.call(function, engine, out.address));
            return out.text(0);
        } finally {
            Reference.reachabilityFence(out);
            Reference.reachabilityFence(this);
        }
    }

    /** Throws where a status is not OK. */
    static void check(int status) {
        switch (status) {
            case 0 -> {}
            case 1 -> throw new OrbgateException("the library refused an argument");
            case 5 -> throw new OrbgateException("the library caught a fault of its own");
            default -> throw new OrbgateException("the library answered with status " + status);
        }
    }

    /** A decision in words and numbers. */
    Words words(long packed) {
        NativeBuffer decision = new NativeBuffer(32);
        NativeBuffer text = NativeBuffer.struct(120);
        try {
            check(Library.ABI.call("orbgate_engine_unpack", engine, packed, decision.address));
            check(Library.ABI.call("orbgate_engine_decision_text", engine, decision.address, text.address));
            return new Words(
                    decision.bytes.getLong(16), text.text(56), text.text(72), text.text(88), text.text(104));
        } finally {
            Reference.reachabilityFence(decision);
            Reference.reachabilityFence(text);
            Reference.reachabilityFence(this);
        }
    }

    /** What of a decision is not in its 64 bits. Null is what it does not have. */
    record Words(long amount, String api, String route, String scope, String policy) {
        Words {
            Objects.requireNonNull(policy);
        }
    }
}
