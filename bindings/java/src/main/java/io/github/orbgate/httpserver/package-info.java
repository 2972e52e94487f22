/** A gate for the JDK's {@code com.sun.net.httpserver}. */
package io.github.orbgate.httpserver;
