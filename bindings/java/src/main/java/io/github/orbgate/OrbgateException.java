package io.github.orbgate;

/** A call that failed, and so decided nothing. Deny where you catch it. */
public class OrbgateException extends RuntimeException {
    private static final long serialVersionUID = 1;

    OrbgateException(String message) {
        super(message);
    }

    OrbgateException(String message, Throwable cause) {
        super(message, cause);
    }
}
