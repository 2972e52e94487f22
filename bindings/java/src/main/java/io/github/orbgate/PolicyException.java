package io.github.orbgate;

import static java.util.stream.Collectors.joining;

import java.nio.file.Path;
import java.util.List;

/** A policy that cannot be used. It names every fault; the message has a line for each. */
public final class PolicyException extends OrbgateException {
    private static final long serialVersionUID = 1;

    private final transient List<Fault> faults;
    private final int line;
    private final int column;

    PolicyException(String message, int line, int column, List<Fault> faults) {
        super(message);
        this.line = line;
        this.column = column;
        this.faults = List.copyOf(faults);
    }

    /** The same, of a file. */
    PolicyException in(Path path) {
        String message = getMessage().lines().map(line -> path + ":" + line).collect(joining("\n"));
        return new PolicyException(message, line, column, faults());
    }

    /** The line of the first fault, from 1; 0 where it has no place. */
    public int line() {
        return line;
    }

    /** The column of the first fault in characters, from 1; 0 where it has no place. */
    public int column() {
        return column;
    }

    /** Every fault, in the order of the file; none after a serialisation. */
    public List<Fault> faults() {
        return faults == null ? List.of() : faults;
    }
}
