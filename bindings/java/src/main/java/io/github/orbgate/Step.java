package io.github.orbgate;

import java.time.Instant;
import java.util.Optional;

/** The result of a question to a gate: an answer, or a wait for keys. */
final class Step {
    /** The native step while it waits and this object owns it; 0 otherwise. */
    private long pointer;

    /** The latest end of the wait, on the monotonic clock. */
    final long untilMs;

    /** Null while it waits. */
    final Answer answer;

    /** The template that the router has chosen instead of the allowed route; null if they agree. */
    final String misrouted;

    /** An audit line; null if none was requested. */
    final String audit;

    private Step(long pointer, long untilMs, Answer answer, String misrouted, String audit) {
        this.pointer = pointer;
        this.untilMs = untilMs;
        this.answer = answer;
        this.misrouted = misrouted;
        this.audit = audit;
    }

    /** The native step, for a call that may read it. */
    long pointer() {
        return pointer;
    }

    /** The native step, for a call that consumes it. */
    long take() {
        long taken = pointer;
        pointer = 0;
        return taken;
    }

    /** Frees the native step, unless a call has consumed it. */
    void drop() {
        if (pointer != 0) {
            Library.ABI.stepFree(take());
        }
    }

    boolean waits() {
        return answer == null;
    }

    /** Takes ownership of a new step of the library. The buffer has room for its info, from this offset on. */
    static Step of(long pointer, Table table, NativeBuffer scratch, int info) {
        boolean isKept = false;
        try {
            scratch.bytes.putInt(info + Layout.StepInfo.STRUCT_SIZE, Layout.StepInfo.SIZE);
            Core.check(Library.ABI.stepInfo(pointer, scratch.address + info));
            int kind = scratch.bytes.getInt(info + Layout.StepInfo.KIND);
            isKept = kind == Layout.STEP_WAIT;
            return switch (kind) {
                case Layout.STEP_ANSWER -> answered(table, scratch, info);
                case Layout.STEP_WAIT ->
                    new Step(pointer, scratch.bytes.getLong(info + Layout.StepInfo.UNTIL_MS), null, null, null);
                default -> throw new OrbgateException("the library cannot check signatures: use one with cryptography");
            };
        } finally {
            if (!isKept) {
                Library.ABI.stepFree(pointer);
            }
        }
    }

    private static Step answered(Table table, NativeBuffer scratch, int info) {
        Decision decision = new Decision(table, scratch.bytes.getLong(info + Layout.StepInfo.PACKED));
        Answer answer = new Answer(
                decision,
                scratch.bytes.getInt(info + Layout.StepInfo.HTTP_STATUS),
                text(scratch, info + Layout.StepInfo.WWW_AUTHENTICATE),
                text(scratch, info + Layout.StepInfo.ALLOW),
                text(scratch, info + Layout.StepInfo.REFUSED),
                token(scratch, info),
                text(scratch, info + Layout.StepInfo.PUBLIC_TEMPLATE),
                scratch.bytes.getInt(info + Layout.StepInfo.PREFLIGHT) == 1);
        String misrouted = scratch.text(info + Layout.StepInfo.MISROUTED);
        return new Step(0, 0, answer, misrouted, scratch.text(info + Layout.StepInfo.AUDIT));
    }

    private static Optional<BearerToken> token(NativeBuffer scratch, int info) {
        int kind = scratch.bytes.getInt(info + Layout.StepInfo.TOKEN_KIND);
        if (kind == Layout.TOKEN_KIND_NONE) {
            return Optional.empty();
        }
        return Optional.of(new BearerToken(
                TokenKind.of(kind),
                text(scratch, info + Layout.StepInfo.SCOPES).orElse(""),
                text(scratch, info + Layout.StepInfo.ISSUER).orElse(""),
                text(scratch, info + Layout.StepInfo.SUBJECT),
                text(scratch, info + Layout.StepInfo.CLIENT),
                text(scratch, info + Layout.StepInfo.ACTOR),
                text(scratch, info + Layout.StepInfo.ID),
                text(scratch, info + Layout.StepInfo.FINGERPRINT).orElse(""),
                Instant.ofEpochMilli(scratch.bytes.getLong(info + Layout.StepInfo.EXPIRES_MS))));
    }

    private static Optional<String> text(NativeBuffer scratch, int offset) {
        return Optional.ofNullable(scratch.text(offset));
    }
}
