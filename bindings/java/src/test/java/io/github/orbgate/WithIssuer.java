package io.github.orbgate;

import io.github.orbgate.testing.TestIssuer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** Tests of gates with an issuer on this machine. */
abstract class WithIssuer {
    static final String ORBS = "/api/v1/external/orbs";

    static TestIssuer issuer;
    /** The Authorization of a user who may read orbs. */
    static String reader;

    @BeforeAll
    static void start() throws Exception {
        issuer = new TestIssuer();
        reader = issuer.bearer(TokenKind.USER, "read:orbs");
    }

    @AfterAll
    static void stop() {
        issuer.close();
    }
}
