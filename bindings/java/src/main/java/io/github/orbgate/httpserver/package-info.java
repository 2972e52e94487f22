/** A gate before the JDK's own {@code com.sun.net.httpserver}. */
package io.github.orbgate.httpserver;
