/* What must not compile, each case for its own reason: `CASE` chooses one, and 0 is none. */
#include "test.h"

int main(void)
{
    OrbgateEngine *engine = external_engine();
    OrbgateStr text = orbgate_reason_name(ORBGATE_REASON_NO_TOKEN);
    OrbgateScopeSet *set = NULL;
    const char *scopes = "read:orbs";
#if CASE == 0
    printf("%.*s\n", ORBGATE_STR_ARGS(text));
    CHECK_OK(orbgate_scope_set_from_string(engine, ORBGATE_TEXT("read:orbs"), &set));
#elif CASE == 1 /* expected */
    CHECK_OK(orbgate_scope_set_from_string(engine, ORBGATE_TEXT(scopes), &set));
#elif CASE == 2 /* value */
    printf("%.*s\n", ORBGATE_STR_ARGS(orbgate_reason_name(ORBGATE_REASON_NO_TOKEN)));
#elif CASE == 3 /* ignoring */
    orbgate_scope_set_from_string(engine, scopes, strlen(scopes), &set);
#endif
    (void)text;
    (void)scopes;
    orbgate_scope_set_free(set);
    orbgate_engine_free(engine);
    return 0;
}
