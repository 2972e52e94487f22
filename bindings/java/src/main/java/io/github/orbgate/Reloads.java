package io.github.orbgate;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.function.Consumer;

/** Loads new versions of a policy file. The library judges them; files are read here. */
final class Reloads {
    private final Handle policy;
    private final NativeGate nativeGate;
    private final Keys keys;
    private final boolean refusesWider;
    private final Consumer<Map<String, String>> count;
    private final System.Logger logger;

    Reloads(Handle policy, NativeGate nativeGate, Keys keys, boolean refusesWider, Consumer<Map<String, String>> count, System.Logger logger) {
        this.policy = policy;
        this.nativeGate = nativeGate;
        this.keys = keys;
        this.refusesWider = refusesWider;
        this.count = count;
        this.logger = logger;
    }

    /** Loads the file now. */
    void reload(Path file) throws IOException {
        Messages.Reload question = new Messages.Reload();
        question.isTold = true;
        try (Step step = new Step()) {
            IOException unread = read(file, question);
            Messages.Loaded loaded = look(file, question, step);
            if (unread != null) {
                throw unread;
            }
            if (!loaded.isLoaded) {
                throw Problem.of(loaded);
            }
        }
    }

    Watch watch(Path file, Duration interval, boolean requireSeal) {
        long pauseMs = interval.toMillis();
        if (pauseMs < 1) {
            throw new IllegalArgumentException("the interval is at least a millisecond");
        }
        Step step = new Step();
        return new Watch(pauseMs, isTold -> {
            Messages.Reload question = new Messages.Reload();
            question.isTold = isTold;
            question.requireSeal = requireSeal;
            question.intervalMs = pauseMs;
            read(file, question);
            return look(file, question, step).pauseMs;
        }, step::close, logger);
    }

    /** Has the library judge what was read, and activates it or reports why not. */
    private Messages.Loaded look(Path file, Messages.Reload question, Step step) {
        question.refuseWider = refusesWider;
        question.file = file.toString();
        question.monotonicMs = keys.now();
        Messages.Reply reply = policy.during((engine, table) -> nativeGate.ask(engine, question, step));
        if (!(reply instanceof Messages.Loaded loaded)) {
            throw new OrbgateException("a gate has answered another question");
        }
        if (loaded.isLoaded) {
            try (Engine next = Engine.fromYaml(question.policy)) {
                policy.store(next);
            }
        }
        if (!loaded.result.isEmpty()) {
            count.accept(Map.of(Names.LABEL_RESULT, loaded.result));
        }
        if (!loaded.message.isEmpty()) {
            logger.log(loaded.status == 0 ? Level.INFO : Level.ERROR, loaded.message);
        }
        if (!loaded.warning.isEmpty()) {
            logger.log(Level.WARNING, loaded.warning);
        }
        keys.fetch();
        return loaded;
    }

    /** Why it can't be read; null if it was. */
    private static IOException read(Path file, Messages.Reload question) {
        try {
            question.policy = Engine.read(file);
            return null;
        } catch (IOException problem) {
            question.failure = problem.toString();
            return problem;
        }
    }
}
