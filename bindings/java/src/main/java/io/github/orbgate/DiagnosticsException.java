package io.github.orbgate;

import java.util.List;

/** A text that cannot be used. It names every error; the message has a line for each. */
public abstract sealed class DiagnosticsException extends OrbgateException permits PolicyException, ConfigurationException {
    private static final long serialVersionUID = 1;

    private final transient List<Diagnostic> diagnostics;
    private final int line;
    private final int column;

    DiagnosticsException(String message, int line, int column, List<Diagnostic> diagnostics) {
        super(message);
        this.line = line;
        this.column = column;
        this.diagnostics = List.copyOf(diagnostics);
    }

    /** The line of the first error, from 1; 0 if it has no location. */
    public int line() {
        return line;
    }

    /** The column of the first error in characters, from 1; 0 if it has no location. */
    public int column() {
        return column;
    }

    /** Every error, in the order of the text; none after a serialisation. */
    public List<Diagnostic> diagnostics() {
        return diagnostics == null ? List.of() : diagnostics;
    }
}
