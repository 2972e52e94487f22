package io.github.orbgate;

/** The cheapest call into the library, which only the package itself can make. */
public final class Empty {
    private Empty() {}

    public static int call() {
        return Library.ABI.abiVersion();
    }
}
