package io.github.orbgate;

import java.util.NoSuchElementException;

/**
 * A request's step in the library, by its handle. The library never gives a handle to another request, so one that is over is refused. Only
 * one thread can use a step at a time.
 */
final class Step implements AutoCloseable {
    /** 0 before the first question, and when the request is over. */
    private long handle;

    /**
     * Asks a question; 0 means no gate, or no engine. After an exception, the request is over.
     *
     * @throws ConfigurationException if a configuration has errors
     * @throws NoSuchElementException if the gate has no such issuer
     * @throws OrbgateException if there is no answer that this package knows
     */
    Messages.Reply ask(long gate, long engine, Messages.Question question) {
        try (Room room = Room.take()) {
            return ask(room, gate, engine, question);
        }
    }

    /** Makes a gate. The caller ends it. */
    static long make(Messages.Make question) {
        try (Room room = Room.take();
                Step step = new Step()) {
            step.ask(room, 0, 0, question);
            return room.gate();
        }
    }

    private Messages.Reply ask(Room room, long gate, long engine, Messages.Question question) {
        boolean isAnswered = false;
        try {
            int status = room.ask(gate, engine, handle, question);
            handle = room.step();
            if (status == Layout.STATUS_TOO_SMALL) {
                status = room.askForAnswer(engine);
                handle = room.step();
            }
            if (status != Layout.STATUS_OK) {
                throw failure(status);
            }
            Messages.Reply reply = Messages.Reply.read(room.answer());
            if (reply instanceof Messages.Failed failed) {
                throw Problem.of(failed);
            }
            isAnswered = true;
            return reply;
        } finally {
            if (!isAnswered) {
                close();
            }
        }
    }

    private static RuntimeException failure(int status) {
        return status == Layout.STATUS_NOT_FOUND ? new NoSuchElementException("no such issuer") : Core.failure(status);
    }

    /** Whether it belongs to no request. */
    boolean isOver() {
        return handle == 0;
    }

    /** Ends the request. One that is over is fine. */
    @Override
    public void close() {
        if (handle != 0) {
            Room.end("orbgate_step_end", handle);
            handle = 0;
        }
    }
}
