package io.github.orbgate;

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Memory for one call of a gate at a time: the handles of the gate and the step, the length of the answer, and the question, over which
 * the library writes its answer.
 */
final class Room implements AutoCloseable {
    private static final int GATE = 0;
    private static final int STEP = 8;
    private static final int LENGTH = 16;
    private static final int MESSAGE = 24;

    /** Few questions and answers are longer. */
    private static final int LEAST = 4 << 10;

    /** Larger memory is not kept. */
    private static final int MOST_KEPT = 64 << 10;

    /**
     * Memory that no call uses. A thread takes that of its lane, and as a rule no other thread uses it: neither a lock nor a queue, and
     * nothing that each of a million virtual threads would own.
     */
    private static final int LANES = 64;

    /** Distance between two lanes, for references of 4 or 8 bytes: at least 64 bytes. */
    private static final int APART = 16;

    private static final AtomicReferenceArray<NativeBuffer> IDLE = new AtomicReferenceArray<>(LANES * APART);

    private final int lane;
    private NativeBuffer memory;

    private Room(int lane, NativeBuffer memory) {
        this.lane = lane;
        this.memory = memory;
    }

    static Room take() {
        int lane = ((int) Thread.currentThread().getId() & LANES - 1) * APART;
        NativeBuffer idle = IDLE.getAndSet(lane, null);
        return new Room(lane, idle == null ? new NativeBuffer(LEAST) : idle);
    }

    /** Gives the memory back. */
    @Override
    public void close() {
        if (memory.bytes.capacity() <= MOST_KEPT) {
            IDLE.setRelease(lane, memory);
        }
    }

    /** Asks a question, and returns the status. */
    int ask(long gate, long engine, long step, Messages.Question question) {
        Wire.Writer to = new Wire.Writer(memory, MESSAGE);
        question.write(to);
        int end = to.end();
        memory = to.memory();
        memory.bytes.putLong(GATE, gate).putLong(STEP, step);
        return ask(engine, end - MESSAGE);
    }

    /** Asks for the answer that had no room. */
    int askForAnswer(long engine) {
        memory = memory.grown(MESSAGE, MESSAGE + memory.bytes.getLong(LENGTH));
        return ask(engine, 0);
    }

    private int ask(long engine, int length) {
        long at = memory.address;
        return Library.ABI.gateAsk(
                at + GATE, engine, at + STEP, at + MESSAGE, length, at + MESSAGE, memory.bytes.capacity() - MESSAGE, at + LENGTH);
    }

    /** The gate that the last question has made. */
    long gate() {
        return memory.bytes.getLong(GATE);
    }

    /** The step for the next question, whatever the status; 0 if it is over. */
    long step() {
        return memory.bytes.getLong(STEP);
    }

    byte[] answer() {
        byte[] answer = new byte[Math.toIntExact(memory.bytes.getLong(LENGTH))];
        memory.bytes.get(MESSAGE, answer);
        return answer;
    }

    /** Ends a step or a gate, by the function for it. */
    static void end(String function, long handle) {
        try (Room room = take()) {
            room.memory.bytes.putLong(GATE, handle);
            Library.ABI.call(function, room.memory.address);
        }
    }
}
