/*
 * Answers a request as a server would: a caller without the scope gets a bare 403.
 *
 *   authorize METHOD TARGET [user|organisation SCOPES]
 *   authorize POST /api/v1/external/voxies/prompt/run user "write:voxies read:orbs"
 */
#include <stdio.h>
#include <string.h>

#include <orbgate.h>

static const char *phrase(unsigned status)
{
    switch (status) {
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    default: return "Forbidden";
    }
}

/*
 * Every denial has an empty body; a 401 says what is missing, a 405 which methods there are. A decision that is neither an
 * allow nor a denial with a status is a 403.
 */
static void deny(const OrbgateEngine *engine, const OrbgateDecision *decision)
{
    unsigned status = decision->http_status == 0 ? ORBGATE_DEFAULT_HTTP_STATUS : decision->http_status;
    printf("HTTP/1.1 %u %s\r\nContent-Length: 0\r\n", status, phrase(status));
    if (status == 401) {
        bool refused = decision->reason == ORBGATE_REASON_INVALID_TOKEN;
        printf("WWW-Authenticate: Bearer%s\r\n", refused ? " error=\"invalid_token\"" : "");
    }
    OrbgateDecisionStrings words = orbgate_decision_strings_init();
    if (orbgate_engine_decision_strings(engine, decision, &words) == ORBGATE_STATUS_OK && words.allow.data != NULL) {
        printf("Allow: %.*s\r\n", ORBGATE_STR_ARGS(words.allow));
    }
    printf("\r\n");
}

static void allow(const OrbgateEngine *engine, const OrbgateDecision *decision)
{
    char body[512];
    OrbgateDecisionStrings words = orbgate_decision_strings_init();
    if (orbgate_engine_decision_strings(engine, decision, &words) != ORBGATE_STATUS_OK) {
        deny(engine, decision);
        return;
    }
    int length = snprintf(body, sizeof body, "%.*s needs %.*s and consumes %s\n", ORBGATE_STR_ARGS(words.route),
                          ORBGATE_STR_ARGS(words.scope),
                          decision->charge & ORBGATE_CHARGE_CONSUMES ? "orbs" : "nothing");
    if (length >= (int)sizeof body) {
        length = (int)sizeof body - 1;
    }
    printf("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s", length, body);
}

int main(int count, char **arguments)
{
    if (count != 3 && count != 5) {
        fprintf(stderr, "usage: authorize METHOD TARGET [user|organisation SCOPES]\n");
        return 2;
    }
    OrbgateEngine *engine = NULL;
    if (!orbgate_check_abi() || orbgate_engine_external(&engine) != ORBGATE_STATUS_OK) {
        fprintf(stderr, "authorize: this liborbgate is older than orbgate.h\n");
        return 2;
    }

    /* A null pointer is not a token; an unknown kind is denied. */
    OrbgateToken token = orbgate_token_init();
    bool named = true;
    if (count == 5) {
        named = orbgate_token_kind_from_name(arguments[3], strlen(arguments[3]), &token.kind) == ORBGATE_STATUS_OK;
        token.scopes = arguments[4];
        token.scopes_len = strlen(arguments[4]);
    }

    OrbgateDecision decision;
    memset(&decision, 0, sizeof decision);
    const char *method = arguments[1], *target = arguments[2];
    if (named && orbgate_engine_decide(engine, method, strlen(method), target, strlen(target),
                                       count == 5 ? &token : NULL, 0, &decision) == ORBGATE_STATUS_OK &&
        orbgate_decision_is_allow(&decision)) {
        allow(engine, &decision);
    } else {
        deny(engine, &decision);
    }
    orbgate_engine_free(engine);
    return 0;
}
