/* Initialise a struct that begins with struct_size, for example `OrbgateToken token = orbgate_token_init();`. */
#define ORBGATE_DEFINE_INIT(type, name)        \
    static inline type name(void)              \
    {                                          \
        type value;                            \
        memset(&value, 0, sizeof value);       \
        value.struct_size = (uint32_t)sizeof value; \
        return value;                          \
    }
ORBGATE_DEFINE_INIT(OrbgateToken, orbgate_token_init)
ORBGATE_DEFINE_INIT(OrbgateBatch, orbgate_batch_init)
ORBGATE_DEFINE_INIT(OrbgateDecisionStrings, orbgate_decision_strings_init)
ORBGATE_DEFINE_INIT(OrbgateEngineInfo, orbgate_engine_info_init)
ORBGATE_DEFINE_INIT(OrbgateRoute, orbgate_route_init)
ORBGATE_DEFINE_INIT(OrbgateScope, orbgate_scope_init)
ORBGATE_DEFINE_INIT(OrbgateErrorInfo, orbgate_error_info_init)
ORBGATE_DEFINE_INIT(OrbgateDiagnostic, orbgate_diagnostic_init)
#undef ORBGATE_DEFINE_INIT

/* The arguments of `"%.*s"` for an OrbgateStr in a variable. A call doesn't compile, because it would run three times. */
#define ORBGATE_STR_ARGS(text) (int)(&(text))->len, (&(text))->data != NULL ? (&(text))->data : ""

/*
 * The pointer and the length of a string literal: ORBGATE_TEXT("GET"). Anything else doesn't compile, because it would be
 * evaluated twice. For a string in a variable, write `name, strlen(name)`.
 */
#define ORBGATE_TEXT(literal) ("" literal), (sizeof(literal) - 1)

/* Whether the library has everything that this header declares. Call it once, at startup. */
static inline bool orbgate_check_abi(void)
{
    uint32_t abi = orbgate_abi_version();
    return abi >> 16 == ORBGATE_ABI_MAJOR && abi >= ORBGATE_ABI_VERSION;
}

/* Whether a decision allows the call. */
static inline bool orbgate_decision_is_allow(const OrbgateDecision *decision)
{
    return decision != NULL && decision->effect == ORBGATE_EFFECT_ALLOW;
}

/*
 * The layout of a packed decision. No field crosses the middle, and the value stays below 2^53.
 *
 *   bits  0 to  1  effect; 0 if the call failed
 *   bits  2 to  5  charge
 *   bits  6 to 13  detail
 *   bits 14 to 31  route
 *   bits 32 to 47  scope
 *   bits 48 to 52  reason; with effect 0, the status
 *
 * The fields are those of OrbgateDecision; orbgate_engine_unpack adds amount, HTTP status and policy. With
 * ORBGATE_PACK_ABOUT, the route of a decision for no_token or invalid_token is OrbgateDecision.about, and unpacking
 * restores it.
 */
static inline bool orbgate_packed_is_allow(uint64_t packed) { return (packed & 3u) == ORBGATE_EFFECT_ALLOW; }
static inline uint8_t orbgate_packed_effect(uint64_t packed) { return (uint8_t)(packed & 3u); }
static inline uint8_t orbgate_packed_charge(uint64_t packed) { return (uint8_t)(packed >> 2 & 15u); }
static inline uint8_t orbgate_packed_detail(uint64_t packed) { return (uint8_t)(packed >> 6 & 255u); }
static inline uint32_t orbgate_packed_route(uint64_t packed) { return (uint32_t)(packed >> 14 & 0x3ffffu); }
static inline uint16_t orbgate_packed_scope(uint64_t packed) { return (uint16_t)(packed >> 32 & 0xffffu); }
/* The reason; 0 if the call failed. */
static inline uint8_t orbgate_packed_reason(uint64_t packed) { return (packed & 3u) == 0 ? (uint8_t)0 : (uint8_t)(packed >> 48 & 31u); }
/* The OrbgateStatus of the call: ORBGATE_STATUS_OK if it returned a decision. */
static inline int32_t orbgate_packed_status(uint64_t packed) { return (packed & 3u) == 0 ? (int32_t)(packed >> 48 & 31u) : 0; }

#endif /* ORBGATE_H */
