package io.github.orbgate;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/** Fetches the issuers' keys in the background, and wakes who waits for them. */
final class Keys {
    private final Machine machine;
    private final HttpClient client;
    private final System.Logger logger;
    private final long start = System.nanoTime();
    /** What is under way. */
    private final Set<CompletableFuture<?>> running = ConcurrentHashMap.newKeySet();
    // A lock, and not a monitor: a virtual thread that waits leaves its carrier to others.
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition ended = lock.newCondition();
    /** Attempts under way. */
    private int attempts;

    private volatile boolean isClosed;

    Keys(Machine machine, HttpClient client, System.Logger logger) {
        this.machine = machine;
        this.client = client;
        this.logger = logger;
    }

    /** The time on a clock that nobody sets. */
    long now() {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
    }

    /** Starts what there is to fetch; nobody waits for it here. */
    void fetch() {
        for (Machine.Fetch next = machine.nextFetch(now()); next != null; next = machine.nextFetch(now())) {
            lock.lock();
            try {
                attempts++;
            } finally {
                lock.unlock();
            }
            run(next);
        }
    }

    /** Fetches what an attempt needs, to its end. */
    private void run(Machine.Fetch fetch) {
        CompletableFuture<HttpResponse<byte[]>> sent = send(fetch);
        running.add(sent);
        if (isClosed) {
            sent.cancel(true); // What began while the gate closed may be missing from what it cancelled.
        }
        // The limit is for the whole of it, and not only for its beginning; the connection is closed at the end of the time.
        CompletableFuture<HttpResponse<byte[]>> timed = sent.copy().orTimeout(fetch.timeoutMs(), TimeUnit.MILLISECONDS);
        timed.whenComplete((response, problem) -> {
            sent.cancel(true);
            running.remove(sent);
            Machine.Fetch next = null;
            try {
                next = report(fetch, response, problem);
            } catch (RuntimeException failed) {
                if (!isClosed) {
                    logger.log(Level.ERROR, "keys cannot be used", failed);
                }
            }
            if (next == null) {
                end();
            } else {
                run(next);
            }
        });
    }

    private CompletableFuture<HttpResponse<byte[]>> send(Machine.Fetch fetch) {
        try {
            HttpRequest request = HttpRequest.newBuilder(URI.create(fetch.url())).build();
            return client.sendAsync(request, head -> new LimitedBody(fetch.maxBytes()));
        } catch (IllegalArgumentException unfit) {
            return CompletableFuture.failedFuture(new BadUrlException(unfit));
        } catch (RuntimeException failed) {
            return CompletableFuture.failedFuture(failed); // A client of the service's own.
        }
    }

    private Machine.Fetch report(Machine.Fetch fetch, HttpResponse<byte[]> response, Throwable problem) {
        if (problem != null) {
            Throwable cause = problem instanceof CompletionException ? problem.getCause() : problem;
            if (!isClosed) {
                logger.log(Level.WARNING, () -> "keys cannot be fetched from " + fetch.url() + ": " + cause);
            }
            machine.fetchFailed(fetch.attempt(), failure(cause), now());
            return null;
        }
        String control = String.join(",", response.headers().allValues("Cache-Control"));
        Machine.Fetched came = new Machine.Fetched(response.statusCode(), control, response.body());
        return machine.fetched(fetch.attempt(), came, now());
    }

    static int failure(Throwable cause) {
        if (cause instanceof TimeoutException || cause instanceof HttpTimeoutException) {
            return Layout.FETCH_TIMEOUT;
        }
        if (cause instanceof LimitedBody.TooLargeException || cause.getCause() instanceof LimitedBody.TooLargeException) {
            return Layout.FETCH_TOO_LARGE;
        }
        return cause instanceof BadUrlException ? Layout.FETCH_BAD_URL : Layout.FETCH_UNREACHABLE;
    }

    private void end() {
        lock.lock();
        try {
            attempts--;
            ended.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Waits until what a step waits for is over. */
    void await(Step step) throws InterruptedException {
        await(step.untilMs, () -> machine.isOver(step, now()));
    }

    /** Waits until nothing is under way. */
    void awaitAll() throws InterruptedException {
        await(Long.MAX_VALUE, () -> attempts == 0);
    }

    private void await(long untilMs, BooleanSupplier isSo) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (!isClosed && !isSo.getAsBoolean()) {
                ended.await(Math.max(1, untilMs - now()), TimeUnit.MILLISECONDS);
            }
            if (isClosed) {
                throw new IllegalStateException("the gate is closed");
            }
        } finally {
            lock.unlock();
        }
    }

    /** Ends what is under way, and every wait. */
    void close() {
        isClosed = true;
        running.forEach(sent -> sent.cancel(true));
        lock.lock();
        try {
            ended.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** A URL that the client does not take. */
    private static final class BadUrlException extends IOException {
        private static final long serialVersionUID = 1;

        BadUrlException(Throwable cause) {
            super(cause);
        }
    }
}
