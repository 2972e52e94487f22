package io.github.orbgate;

import java.lang.System.Logger.Level;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A policy file that is followed until this is closed, or its gate. See {@link Gate#watch}. */
public final class Watch implements AutoCloseable {
    private enum Wake {
        READ,
        END
    }

    /** Reads the file, for an operator or not; returns the milliseconds to the next time. */
    interface Look {
        long look(boolean isTold);
    }

    private final BlockingQueue<Wake> wakes = new LinkedBlockingQueue<>();
    private final Thread thread;

    Watch(long pauseMs, Look look, Runnable end, System.Logger logger) {
        thread = new Thread(() -> {
            try {
                follow(pauseMs, look, logger);
            } catch (InterruptedException over) {
                // Nobody else has this thread.
            } finally {
                end.run();
            }
        }, "orbgate-watch");
        thread.setDaemon(true);
        thread.start();
    }

    private void follow(long pauseMs, Look look, System.Logger logger) throws InterruptedException {
        boolean isSaid = false;
        for (Wake wake = null; wake != Wake.END; ) {
            long next = pauseMs;
            try {
                next = look.look(wake == Wake.READ);
            } catch (IllegalStateException closed) {
                return;
            } catch (RuntimeException failed) {
                if (!isSaid) {
                    logger.log(Level.ERROR, "the policy file is not followed", failed);
                }
                isSaid = true;
            }
            wake = wakes.poll(next, TimeUnit.MILLISECONDS);
        }
    }

    /**
     * Reads the file now, for an operator who has changed it, and doesn't wait for the result. A version with a valid seal is loaded at
     * once, and others at most a second after their bytes were first read, however often this is called.
     */
    public void readNow() {
        wakes.add(Wake.READ);
    }

    /** Ends it. Once this returns, no version is loaded, unless it was called by a function of the gate. */
    @Override
    public void close() {
        wakes.add(Wake.END);
        try {
            if (thread != Thread.currentThread()) {
                thread.join();
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
