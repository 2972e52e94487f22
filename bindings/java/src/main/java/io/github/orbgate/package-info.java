/**
 * Orbgate: which scope does this route need, may this token call it, does it consume orbs, and why?
 *
 * <p>Begin with {@link io.github.orbgate.Engine}. From Java 22 on the package calls the library through the Foreign
 * Function and Memory API, before that through JNA, which takes several times as long for each call.
 */
package io.github.orbgate;
