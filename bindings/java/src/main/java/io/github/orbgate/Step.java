package io.github.orbgate;

import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.util.NoSuchElementException;

/**
 * A step of the library, with memory for questions. It serves one request after another, of any gate. Only one thread
 * can use it at a time.
 */
final class Step {
    /** Larger memory is not kept: few questions need it. */
    private static final int MOST_KEPT = 64 << 10;

    /** The offset of a question: the memory starts with the {@code OrbgateStr} of its answer. */
    private static final int QUESTION = Layout.Str.SIZE;

    private final long pointer;
    private final Cleaner.Cleanable free;
    private NativeBuffer memory = new NativeBuffer(4 << 10);
    private boolean isIdle = true;

    Step() {
        Core.check(Library.ABI.call("orbgate_step_new", memory.address));
        long made = memory.bytes.getLong(0);
        pointer = made;
        free = Library.CLEANER.register(this, () -> Library.ABI.call("orbgate_step_free", made));
    }

    /** Whether it belongs to no request. */
    boolean isIdle() {
        return isIdle;
    }

    /**
     * Asks a question; 0 means no gate, or no engine. After an exception, the request of this step is over.
     *
     * @throws ConfigurationException if a configuration has errors
     * @throws NoSuchElementException if the gate has no such issuer
     * @throws OrbgateException if there is no answer that this package knows
     */
    Messages.Reply ask(long gate, long engine, Messages.Question question) {
        Wire.Writer to = new Wire.Writer(memory, QUESTION);
        question.write(to);
        NativeBuffer written = to.memory();
        if (written.bytes.capacity() <= MOST_KEPT) {
            memory = written;
        }
        isIdle = false;
        int status = Library.ABI.gateCall(
                gate, engine, pointer, written.address + QUESTION, to.end() - QUESTION, written.address);
        if (status != Layout.STATUS_OK) {
            isIdle = true;
            throw failure(status);
        }
        long answer = written.bytes.getLong(Layout.Str.DATA);
        Messages.Reply reply = Messages.Reply.read(Library.ABI.copy(answer, written.bytes.getLong(Layout.Str.LEN)));
        Reference.reachabilityFence(this);
        isIdle = !(reply instanceof Messages.Wait || reply instanceof Messages.CheckSignature || reply instanceof Messages.Over
                || reply instanceof Messages.Loaded loaded && loaded.pauseMs > 0);
        if (reply instanceof Messages.Failed failed) {
            throw Problem.of(failed);
        }
        return reply;
    }

    private static RuntimeException failure(int status) {
        return status == Layout.STATUS_NOT_FOUND ? new NoSuchElementException("no such issuer") : Core.failure(status);
    }

    /** The gate that its last question, a {@code Make}, has made. The caller owns it. */
    long gate() {
        Core.check(Library.ABI.call("orbgate_step_gate", pointer, memory.address));
        Reference.reachabilityFence(this);
        return memory.bytes.getLong(0);
    }

    /** Frees it, even if it belongs to a request. */
    void free() {
        free.clean();
    }
}
