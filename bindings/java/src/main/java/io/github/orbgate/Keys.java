package io.github.orbgate;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.util.Iterator;
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
    private final NativeGate nativeGate;
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

    Keys(NativeGate nativeGate, HttpClient client, System.Logger logger) {
        this.nativeGate = nativeGate;
        this.client = client;
        this.logger = logger;
    }

    /** The time of a monotonic clock. */
    long now() {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
    }

    /** Starts all due fetches, without waiting for them. */
    void fetch() {
        Step step = new Step();
        for (Messages.Call call = next(step); call != null; call = next(step)) {
            if (call.body == null) {
                lock.lock();
                try {
                    attempts++;
                } finally {
                    lock.unlock();
                }
            }
            run(call, step);
            step = new Step();
        }
    }

    /** The next call that is due, whose result is reported with its step; null without one. */
    private Messages.Call next(Step step) {
        Messages.NextCall question = new Messages.NextCall();
        question.monotonicMs = now();
        Messages.Reply reply = nativeGate.ask(0, question, step);
        if (reply instanceof Messages.Done done) {
            tell(done);
        }
        return reply instanceof Messages.Call call ? call : null;
    }

    /** Logs what the library says. */
    void tell(Messages.Done done) {
        Iterator<String> levels = done.levels.lines().iterator();
        done.notices.lines().forEach(notice -> logger.log(next(levels), notice));
    }

    /** The level of a notice. Another library may have fewer levels, or others. */
    private static Level next(Iterator<String> levels) {
        return switch (levels.hasNext() ? levels.next() : "") {
            case "info" -> Level.INFO;
            case "warning" -> Level.WARNING;
            default -> Level.ERROR;
        };
    }

    /** Makes all calls of an attempt, and ends its step. */
    private void run(Messages.Call call, Step step) {
        CompletableFuture<HttpResponse<byte[]>> sent = send(call);
        running.add(sent);
        if (isClosed) {
            sent.cancel(true); // It may have started too late for close() to cancel it.
        }
        // The limit applies to the whole exchange, not only to its beginning; afterwards, the connection is closed.
        CompletableFuture<HttpResponse<byte[]>> timed = sent.copy().orTimeout(call.timeoutMs, TimeUnit.MILLISECONDS);
        timed.whenComplete((response, problem) -> {
            sent.cancel(true);
            running.remove(sent);
            Messages.Call next = null;
            try {
                next = report(call, step, response, problem);
            } catch (RuntimeException failed) {
                if (!isClosed) {
                    logger.log(Level.ERROR, "keys cannot be used", failed);
                }
            } finally {
                if (next == null) {
                    step.close();
                    fetchOthers();
                    end(call);
                }
            }
            if (next != null) {
                run(next, step);
            }
        });
    }

    /** Starts the calls that have waited for their turn. */
    private void fetchOthers() {
        try {
            fetch();
        } catch (RuntimeException failed) {
            if (!isClosed) {
                logger.log(Level.ERROR, "keys cannot be fetched", failed);
            }
        }
    }

    private CompletableFuture<HttpResponse<byte[]>> send(Messages.Call call) {
        try {
            HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(call.url));
            call.headers.forEach(header -> request.header(header.name, header.value));
            // Without a body, the builder's own GET has no Content-Length either.
            if (call.body != null) {
                request.method(call.method, HttpRequest.BodyPublishers.ofByteArray(call.body));
            } else if (!call.method.equals("GET")) {
                request.method(call.method, HttpRequest.BodyPublishers.noBody());
            }
            return client.sendAsync(request.build(), head -> new LimitedBody(call.maxBytes));
        } catch (IllegalArgumentException unfit) {
            return CompletableFuture.failedFuture(new BadUrlException(unfit));
        } catch (RuntimeException | Error failed) {
            return CompletableFuture.failedFuture(failed); // A client of the service's own.
        }
    }

    /** Reports the result of a call. Returns the next call of the same attempt; null if it is over. */
    private Messages.Call report(Messages.Call call, Step step, HttpResponse<byte[]> response, Throwable problem) {
        Messages.Called called = new Messages.Called();
        called.attempt = call.attempt;
        if (problem != null) {
            Throwable cause = problem instanceof CompletionException ? problem.getCause() : problem;
            if (!isClosed) {
                // The message of a client could quote the secret or the token of a question.
                String why = call.body == null ? cause.toString() : cause.getClass().getName();
                logger.log(Level.WARNING, () -> call.url + " cannot be fetched: " + why);
            }
            called.failure = failure(cause);
        } else {
            called.status = response.statusCode();
            called.headers = response.headers().allValues("Cache-Control").stream().map(Keys::cacheControl).toList();
            called.body = response.body();
        }
        called.monotonicMs = now();
        return nativeGate.ask(0, called, step) instanceof Messages.Call next ? next : null;
    }

    private static Messages.Header cacheControl(String value) {
        Messages.Header header = new Messages.Header();
        header.name = Text.bytes("Cache-Control", "name");
        header.value = Text.ofRequest(value, "value");
        return header;
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

    private void end(Messages.Call call) {
        lock.lock();
        try {
            if (call.body == null) {
                attempts--;
            }
            ended.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Waits until a step can be resumed. */
    void await(Step step, Messages.Wait wait) throws InterruptedException {
        await(wait.untilMs, () -> isOver(step));
    }

    private boolean isOver(Step step) {
        Messages.IsOver question = new Messages.IsOver();
        question.monotonicMs = now();
        return nativeGate.ask(0, question, step) instanceof Messages.Over over && over.isOver;
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
