/** For the tests of services behind a gate: tokens that are really verified. Not for production. */
package io.github.orbgate.testing;
