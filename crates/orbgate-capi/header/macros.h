
/* The version of this header. orbgate_version() returns the version of the library. */
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

/* Define ORBGATE_STATIC if you link the static library on Windows. */
#ifndef ORBGATE_API
#if defined(_WIN32) && !defined(ORBGATE_STATIC)
#define ORBGATE_API __declspec(dllimport)
#else
#define ORBGATE_API
#endif
#endif

/* Ignoring a status or a decision is always a mistake. */
#ifndef ORBGATE_NODISCARD
#if (defined(__cplusplus) && __cplusplus >= 201703L) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
#define ORBGATE_NODISCARD [[nodiscard]]
#elif defined(__GNUC__)
#define ORBGATE_NODISCARD __attribute__((warn_unused_result))
#else
#define ORBGATE_NODISCARD
#endif
#endif

/* The Arrow C data interface, guarded as its specification requires: the first included header defines it. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};

#endif /* ARROW_C_DATA_INTERFACE */

/* An enum has the size of its type in every version of C and C++. */
#if defined(__cplusplus)
#define ORBGATE_ENUM(name, type) enum name : type
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L
#define ORBGATE_ENUM(name, type) enum name : type; typedef enum name name; enum name : type
#else
#define ORBGATE_ENUM(name, type) typedef type name; enum name
#endif
