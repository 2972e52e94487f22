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

/** Fetches the issuers' keys and asks about opaque tokens, in the background. Wakes the threads that wait. */
final class Keys {
    private final Machine machine;
    private final HttpClient client;
    private final System.Logger logger;
    private final long start = System.nanoTime();
    /** Running requests. */
    private final Set<CompletableFuture<?>> running = ConcurrentHashMap.newKeySet();
    // A lock instead of a monitor, so that a waiting virtual thread releases its carrier.
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition ended = lock.newCondition();
    /** Running attempts to fetch keys. */
    private int attempts;

    private volatile boolean isClosed;

    Keys(Machine machine, HttpClient client, System.Logger logger) {
        this.machine = machine;
        this.client = client;
        this.logger = logger;
    }

    /** The time of a monotonic clock. */
    long now() {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
    }

    /** Starts all due fetches, without waiting for them. */
    void fetch() {
        for (Machine.Fetch next = machine.nextFetch(now()); next != null; next = machine.nextFetch(now())) {
            if (next.question().isEmpty()) {
                lock.lock();
                try {
                    attempts++;
                } finally {
                    lock.unlock();
                }
            }
            run(next);
        }
    }

    /** Completes all fetches of an attempt. */
    private void run(Machine.Fetch fetch) {
        CompletableFuture<HttpResponse<byte[]>> sent = send(fetch);
        running.add(sent);
        if (isClosed) {
            sent.cancel(true); // It may have started too late for close() to cancel it.
        }
        // The limit applies to the whole exchange, not only to its beginning; afterwards, the connection is closed.
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
                next();
                end(fetch);
            } else {
                run(next);
            }
        });
    }

    /** Starts the fetches that have waited for their turn. */
    private void next() {
        try {
            fetch();
        } catch (RuntimeException failed) {
            if (!isClosed) {
                logger.log(Level.ERROR, "keys cannot be fetched", failed);
            }
        }
    }

    private CompletableFuture<HttpResponse<byte[]>> send(Machine.Fetch fetch) {
        try {
            HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(fetch.url())).header("Accept", "application/json");
            fetch.question().ifPresent(question -> request.header("Authorization", question.authorization)
                    .header("Content-Type", "application/x-www-form-urlencoded")
                    .POST(HttpRequest.BodyPublishers.ofString(question.body)));
            return client.sendAsync(request.build(), head -> new LimitedBody(fetch.maxBytes()));
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
                // The message of a client could quote the secret or the token of a question.
                String why = fetch.question().isPresent() ? cause.getClass().getName() : cause.toString();
                logger.log(Level.WARNING, () -> fetch.url() + " cannot be fetched: " + why);
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

    private void end(Machine.Fetch fetch) {
        lock.lock();
        try {
            if (fetch.question().isEmpty()) {
                attempts--;
            }
            ended.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Waits until a step can be resumed. */
    void await(Step step) throws InterruptedException {
        await(step.untilMs, () -> machine.isOver(step, now()));
    }

    /** Waits until no keys are being fetched. */
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

    /** Ends all requests and all waits. */
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

    /** A URL that the client rejects. */
    private static final class BadUrlException extends IOException {
        private static final long serialVersionUID = 1;

        BadUrlException(Throwable cause) {
            super(cause);
        }
    }
}
