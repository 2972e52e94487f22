package io.github.orbgate;

import java.util.List;

/** A text that cannot be used. It names every fault; the message has a line for each. */
public abstract sealed class FaultsException extends OrbgateException permits PolicyException, ConfigurationException {
    private static final long serialVersionUID = 1;

    private final transient List<Fault> faults;
    private final int line;
    private final int column;

    FaultsException(String message, int line, int column, List<Fault> faults) {
        super(message);
        this.line = line;
        this.column = column;
        this.faults = List.copyOf(faults);
    }

    /** The line of the first fault, from 1; 0 where it has no place. */
    public int line() {
        return line;
    }

    /** The column of the first fault in characters, from 1; 0 where it has no place. */
    public int column() {
        return column;
    }

    /** Every fault, in the order of the text; none after a serialisation. */
    public List<Fault> faults() {
        return faults == null ? List.of() : faults;
    }
}
