
/* The version of this header. orbgate_version_number() is that of the library. */
#define ORBGATE_VERSION_MAJOR @MAJOR@
#define ORBGATE_VERSION_MINOR @MINOR@
#define ORBGATE_VERSION_PATCH @PATCH@
#define ORBGATE_VERSION_NUMBER \
    ((ORBGATE_VERSION_MAJOR << 24) | (ORBGATE_VERSION_MINOR << 16) | (ORBGATE_VERSION_PATCH << 8))
#define ORBGATE_VERSION "@MAJOR@.@MINOR@.@PATCH@"

/* The ABI of this header: see orbgate_check_abi(). */
#define ORBGATE_ABI_MAJOR @ABI_MAJOR@
#define ORBGATE_ABI_MINOR @ABI_MINOR@
#define ORBGATE_ABI_VERSION ((ORBGATE_ABI_MAJOR << 16) | ORBGATE_ABI_MINOR)

/* Define ORBGATE_STATIC where the static library is linked on Windows. */
#ifndef ORBGATE_API
#if defined(_WIN32) && !defined(ORBGATE_STATIC)
#define ORBGATE_API __declspec(dllimport)
#else
#define ORBGATE_API
#endif
#endif

/* A status or decision that nobody reads protects nothing. */
#ifndef ORBGATE_NODISCARD
#if defined(__cplusplus) && __cplusplus >= 201703L
#define ORBGATE_NODISCARD [[nodiscard]]
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L
#define ORBGATE_NODISCARD [[nodiscard]]
#elif defined(__GNUC__)
#define ORBGATE_NODISCARD __attribute__((warn_unused_result))
#else
#define ORBGATE_NODISCARD
#endif
#endif

