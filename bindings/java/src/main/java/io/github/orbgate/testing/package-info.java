/** For tests of services behind a gate: really signed and verified tokens. Not for production. */
package io.github.orbgate.testing;
