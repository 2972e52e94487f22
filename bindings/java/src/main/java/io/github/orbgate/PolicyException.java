package io.github.orbgate;

import static java.util.stream.Collectors.joining;

import java.nio.file.Path;
import java.util.List;

/** A policy that cannot be used. It names every fault; the message has a line for each. */
public final class PolicyException extends FaultsException {
    private static final long serialVersionUID = 1;

    PolicyException(String message, int line, int column, List<Fault> faults) {
        super(message, line, column, faults);
    }

    /** The same, of a file. */
    PolicyException in(Path path) {
        String message = getMessage().lines().map(line -> path + ":" + line).collect(joining("\n"));
        return new PolicyException(message, line(), column(), faults());
    }
}
