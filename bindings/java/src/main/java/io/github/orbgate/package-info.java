/**
 * Orbgate: which scope does this route need, may this token call it, does it consume orbs, and why?
 *
 * <p>Start with {@link io.github.orbgate.Engine}. Since Java 22, the package calls the library through the Foreign
 * Function and Memory API; on older versions through JNA, which takes several times as long for each call.
 */
package io.github.orbgate;
