package io.github.orbgate;

import java.lang.ref.Cleaner;
import java.lang.ref.Reference;

/**
 * The native gate, by its handle: policy and keys, without network and clock. The library frees it once it is closed and the last call has
 * returned. After {@link #close}, every call throws {@link IllegalStateException}.
 */
final class NativeGate {
    /** Of the library. */
    final long handle;

    private final Cleaner.Cleanable end;
    private volatile boolean isClosed;

    NativeGate(Messages.Make make) {
        long made = Step.make(make);
        handle = made;
        end = Library.CLEANER.register(this, () -> Room.end("orbgate_gate_end", made));
    }

    /** Asks a question of no request, with an engine; 0 means no engine. */
    Messages.Reply ask(long engine, Messages.Question question) {
        try (Step step = new Step()) {
            return ask(engine, question, step);
        }
    }

    /** Asks a question about a step. The exceptions are those of {@link Step#ask}. */
    Messages.Reply ask(long engine, Messages.Question question, Step step) {
        if (isClosed) {
            throw closed();
        }
        try {
            return step.ask(handle, engine, question);
        } catch (OrbgateException failed) {
            // The library refuses its handle.
            throw isClosed ? closed() : failed;
        } finally {
            Reference.reachabilityFence(this);
        }
    }

    private static IllegalStateException closed() {
        return new IllegalStateException("the gate is closed");
    }

    void close() {
        isClosed = true;
        end.clean();
    }
}
