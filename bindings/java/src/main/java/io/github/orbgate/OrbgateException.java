package io.github.orbgate;

/** A call failed, so nothing was decided. Deny where you catch it. */
public class OrbgateException extends RuntimeException {
    private static final long serialVersionUID = 1;

    OrbgateException(String message) {
        super(message);
    }

    OrbgateException(String message, Throwable cause) {
        super(message, cause);
    }
}
