package io.github.orbgate;

import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The native gate: policy and keys, without network and clock. It is freed once it is closed and the last call has
 * returned. After {@link #close}, every call throws {@link IllegalStateException}.
 */
final class NativeGate {
    private final long gate;
    private final AtomicBoolean isClosed = new AtomicBoolean();
    /** The number of running calls, plus one until it is closed. */
    private final AtomicInteger users = new AtomicInteger(1);

    private final Cleaner.Cleanable free;
    private final ConcurrentLinkedQueue<Step> idle = new ConcurrentLinkedQueue<>();

    NativeGate(Messages.Make make) {
        Step step = new Step();
        step.ask(0, 0, make);
        long made = step.gate();
        gate = made;
        free = Library.CLEANER.register(this, () -> Library.ABI.call("orbgate_gate_free", made));
        idle.add(step);
    }

    /** Asks a question of no request, with an engine; 0 means no engine. */
    Messages.Reply ask(long engine, Messages.Question question) {
        Step step = take();
        try {
            return ask(engine, question, step);
        } finally {
            give(step);
        }
    }

    /** Asks a question about a step. The exceptions are those of {@link Step#ask}. */
    Messages.Reply ask(long engine, Messages.Question question, Step step) {
        enter();
        try {
            return step.ask(gate, engine, question);
        } finally {
            leave();
        }
    }

    /** A step for a request. */
    Step take() {
        Step step = idle.poll();
        return step == null ? new Step() : step;
    }

    /** Returns a step, whose request is over. */
    void give(Step step) {
        if (!step.isIdle()) {
            step.ask(0, 0, new Messages.Drop());
        }
        idle.add(step);
        if (isClosed.get()) {
            freeIdle();
        }
    }

    private void freeIdle() {
        for (Step step = idle.poll(); step != null; step = idle.poll()) {
            step.free();
        }
    }

    private void enter() {
        if (isClosed.get() || users.getAndUpdate(count -> count == 0 ? 0 : count + 1) == 0) {
            throw new IllegalStateException("the gate is closed");
        }
    }

    private void leave() {
        if (users.decrementAndGet() == 0) {
            free.clean();
        }
        Reference.reachabilityFence(this);
    }

    void close() {
        if (isClosed.compareAndSet(false, true)) {
            leave();
            freeIdle();
        }
    }

    boolean isFreed() {
        return users.get() == 0;
    }
}
