package io.github.orbgate;

/**
 * The numbers of the C ABI where pointers have 64 bits: codes, the fields of a packed decision, and of each struct its size and
 * where it has its fields. Made by {@code cargo xtask codes}; not to be edited.
 */
final class Layout {
    private Layout() {}

    static final int ABI_VERSION = 65536;
    static final int STATUS_OK = 0;
    static final int STATUS_INVALID_ARGUMENT = 1;
    static final int STATUS_INVALID_POLICY = 2;
    static final int STATUS_IO = 3;
    static final int STATUS_NOT_FOUND = 4;
    static final int STATUS_PANIC = 5;
    static final int STATUS_INVALID_CONFIGURATION = 6;
    static final int STATUS_TOO_SMALL = 7;
    static final int STATUS_FULL = 8;
    static final int EFFECT_INVALID = 0;
    static final int EFFECT_DENY = 1;
    static final int EFFECT_ALLOW = 2;
    static final int REASON_NONE = 0;
    static final int REASON_MALFORMED_REQUEST = 1;
    static final int REASON_NO_TOKEN = 2;
    static final int REASON_INVALID_TOKEN = 3;
    static final int REASON_NO_ROUTE = 4;
    static final int REASON_METHOD_NOT_DECLARED = 5;
    static final int REASON_USER_TOKEN_REQUIRED = 6;
    static final int REASON_SCOPE_NOT_APPLICABLE = 7;
    static final int REASON_SCOPE_MISSING = 8;
    static final int REASON_SCOPE_HELD = 9;
    static final int REASON_PUBLIC_ROUTE = 10;
    static final int REASON_INSUFFICIENT_ORBS = 11;
    static final int REASON_LEDGER_UNAVAILABLE = 12;
    static final int REASON_INSUFFICIENT_USER_AUTHENTICATION = 13;
    static final int DETAIL_NONE = 0;
    static final int DETAIL_METHOD = 1;
    static final int DETAIL_LENGTH = 2;
    static final int DETAIL_BYTE = 3;
    static final int DETAIL_FRAGMENT = 4;
    static final int DETAIL_FORM = 5;
    static final int DETAIL_BACKSLASH = 6;
    static final int DETAIL_MATRIX_PARAM = 7;
    static final int DETAIL_PATH_CHAR = 8;
    static final int DETAIL_PERCENT = 9;
    static final int DETAIL_BAD_ESCAPE = 10;
    static final int DETAIL_ENCODED_CONTROL = 11;
    static final int DETAIL_ENCODED_DELIMITER = 12;
    static final int DETAIL_ENCODED_UNRESERVED = 13;
    static final int DETAIL_NON_ASCII = 14;
    static final int DETAIL_WHITESPACE = 15;
    static final int DETAIL_EMPTY_SEGMENT = 16;
    static final int DETAIL_DOT_SEGMENT = 17;
    static final int DETAIL_NON_CANONICAL_LITERAL = 18;
    static final int DETAIL_AMBIGUOUS_CASE = 19;
    static final int DETAIL_UPGRADE = 20;
    static final int DETAIL_INSUFFICIENT = 21;
    static final int DETAIL_BONUS_NOT_ALLOWED = 22;
    static final int DETAIL_TEMPORARILY_HELD = 23;
    static final int DETAIL_FROZEN = 24;
    static final int DETAIL_PROOF = 25;
    static final int TOKEN_KIND_UNKNOWN = 0;
    static final int TOKEN_KIND_USER = 1;
    static final int TOKEN_KIND_ORGANISATION = 2;
    static final int TOKEN_KIND_NONE = 255;
    static final int ANSWER_JSON = 0;
    static final int ANSWER_FIELDS = 1;
    static final int DEFAULT_HTTP_STATUS = 403;
    static final int MAX_POLICY_BYTES = 8388608;
    static final int CHARGE_STATED = 1;
    static final int CHARGE_CONSUMES = 2;
    static final int CHARGE_AMOUNT_STATED = 4;
    static final int CHARGE_BONUS_ALLOWED = 8;
    static final int ALLOW_BONUS_ORBS = 1;
    static final int PACK_ABOUT = 2;
    static final int FETCH_UNREACHABLE = 1;
    static final int FETCH_TIMEOUT = 2;
    static final int FETCH_TOO_LARGE = 3;
    static final int FETCH_BAD_URL = 4;
    static final int CHALLENGE_MINIMAL = 0;
    static final int CHALLENGE_FULL = 1;
    static final int CHALLENGE_NONE = 2;
    static final int CORS_PREFLIGHT_DENY = 0;
    static final int CORS_PREFLIGHT_PASS = 1;
    static final int TEMPLATES_BRACES = 0;
    static final int TEMPLATES_COLONS = 1;
    static final int TEMPLATES_ANGLES = 2;
    static final int MATCHED_NOTHING = 0;
    static final int MATCHED_TEMPLATE = 1;
    static final int MATCHED_UNKNOWN = 2;
    static final int DIFFERENCE_UNDECLARED = 1;
    static final int DIFFERENCE_UNSERVED = 2;

    static int effect(long packed) {
        return (int) (packed >> 0 & 0x3);
    }

    static int charge(long packed) {
        return (int) (packed >> 2 & 0xf);
    }

    static int detail(long packed) {
        return (int) (packed >> 6 & 0xff);
    }

    static int route(long packed) {
        return (int) (packed >> 14 & 0x3ffff);
    }

    static int scope(long packed) {
        return (int) (packed >> 32 & 0xffff);
    }

    static int reason(long packed) {
        return (int) (packed >> 48 & 0x1f);
    }

    static final class Batch {
        static final int SIZE = 136;
        static final int STRUCT_SIZE = 0;
        static final int FLAGS = 4;
        static final int LEN = 8;
        static final int METHOD = 16;
        static final int TARGET = 40;
        static final int TOKEN = 64;
        static final int KINDS = 72;
        static final int SCOPES = 80;
        static final int SCOPE_SETS = 104;
        static final int ALLOW_BONUS_ORBS = 112;
        static final int VALIDITY = 120;
        static final int VALIDITY_OFFSET = 128;
    }

    static final class Column {
        static final int SIZE = 24;
        static final int DATA = 0;
        static final int DATA_LEN = 8;
        static final int OFFSETS = 16;
    }

    static final class Decision {
        static final int SIZE = 32;
        static final int EFFECT = 0;
        static final int REASON = 1;
        static final int DETAIL = 2;
        static final int CHARGE = 3;
        static final int HTTP_STATUS = 4;
        static final int SCOPE = 6;
        static final int ROUTE = 8;
        static final int ABOUT = 12;
        static final int AMOUNT = 16;
        static final int POLICY = 24;
    }

    static final class Diagnostic {
        static final int SIZE = 32;
        static final int STRUCT_SIZE = 0;
        static final int LINE = 4;
        static final int COLUMN = 8;
        static final int RESERVED = 12;
        static final int MESSAGE = 16;
    }

    static final class EngineInfo {
        static final int SIZE = 48;
        static final int STRUCT_SIZE = 0;
        static final int ROUTE_COUNT = 4;
        static final int SCOPE_COUNT = 8;
        static final int HAS_END_MARKER = 12;
        static final int IS_SEALED = 13;
        static final int RESERVED = 14;
        static final int DIGEST = 16;
        static final int NAME = 32;
    }

    static final class ErrorInfo {
        static final int SIZE = 56;
        static final int STRUCT_SIZE = 0;
        static final int CODE = 4;
        static final int LINE = 8;
        static final int COLUMN = 12;
        static final int DIAGNOSTIC_COUNT = 16;
        static final int MESSAGE = 24;
        static final int PATH = 40;
    }

    static final class Route {
        static final int SIZE = 144;
        static final int STRUCT_SIZE = 0;
        static final int NUMBER = 4;
        static final int ID = 8;
        static final int TEXT = 24;
        static final int METHOD = 40;
        static final int PATH_TEMPLATE = 56;
        static final int SCOPE = 72;
        static final int API = 88;
        static final int AMOUNT = 104;
        static final int CHARGE = 112;
        static final int SCOPE_NUMBER = 116;
        static final int LINE = 120;
        static final int COLUMN = 124;
        static final int METHODS = 128;
    }

    static final class RouteId {
        static final int SIZE = 16;
        static final int HIGH = 0;
        static final int LOW = 8;
    }

    static final class Scope {
        static final int SIZE = 96;
        static final int STRUCT_SIZE = 0;
        static final int NUMBER = 4;
        static final int NAME = 8;
        static final int API = 24;
        static final int PERMITS = 40;
        static final int ORGANISATION = 56;
        static final int AMOUNT = 72;
        static final int CHARGE = 80;
        static final int LINE = 84;
        static final int COLUMN = 88;
        static final int RESERVED = 92;
    }

    static final class Str {
        static final int SIZE = 16;
        static final int DATA = 0;
        static final int LEN = 8;
    }

    static final class Token {
        static final int SIZE = 32;
        static final int STRUCT_SIZE = 0;
        static final int KIND = 4;
        static final int SCOPES = 8;
        static final int SCOPES_LEN = 16;
        static final int SCOPE_SET = 24;
    }
}
