package orbgate

// #include <orbgate.h>
import "C"

// AllowBonusOrbs is the request's `allowBonusOrbsUse: true`.
const AllowBonusOrbs Option = C.ORBGATE_ALLOW_BONUS_ORBS

// Packed decisions say what the request is about.
const packAbout Option = C.ORBGATE_PACK_ABOUT

// A TokenKind says whose token it is. Any other number is an invalid argument, and so a denial.
type TokenKind uint8

const (
	// KindUnknown is not known, or none of the others: denied as invalid_token.
	KindUnknown TokenKind = C.ORBGATE_TOKEN_KIND_UNKNOWN
	// KindUser is a user's.
	KindUser TokenKind = C.ORBGATE_TOKEN_KIND_USER
	// KindOrganisation is an organisation's.
	KindOrganisation TokenKind = C.ORBGATE_TOKEN_KIND_ORGANISATION
	// KindNone says that there is no token: denied as no_token.
	KindNone TokenKind = C.ORBGATE_TOKEN_KIND_NONE
)

// TokenKindOf is the kind of a name, user or organisation; any other text is [KindUnknown], which is denied.
func TokenKindOf(name string) TokenKind {
	var kind C.uint32_t
	if C.orbgate_token_kind_from_name(chars(name), size(name), &kind) != C.ORBGATE_STATUS_OK {
		return KindUnknown
	}
	return TokenKind(kind)
}

// A Reason says why a request was allowed or denied. Numbers and names are frozen.
type Reason uint8

const (
	// ReasonNone is no reason: no decision was made.
	ReasonNone Reason = C.ORBGATE_REASON_NONE
	// ReasonMalformedRequest denies with 400: the request has no single, safe spelling; the detail names the rule.
	ReasonMalformedRequest Reason = C.ORBGATE_REASON_MALFORMED_REQUEST
	// ReasonNoToken denies with 401: no token was supplied.
	ReasonNoToken Reason = C.ORBGATE_REASON_NO_TOKEN
	// ReasonInvalidToken denies with 401: the token was refused, or its kind is unknown.
	ReasonInvalidToken Reason = C.ORBGATE_REASON_INVALID_TOKEN
	// ReasonNoRoute denies with 404: the policy has no such route or scope.
	ReasonNoRoute Reason = C.ORBGATE_REASON_NO_ROUTE
	// ReasonMethodNotDeclared denies with 405: the route does not declare this method.
	ReasonMethodNotDeclared Reason = C.ORBGATE_REASON_METHOD_NOT_DECLARED
	// ReasonUserTokenRequired denies with 403: the scope applies only to a user's token.
	ReasonUserTokenRequired Reason = C.ORBGATE_REASON_USER_TOKEN_REQUIRED
	// ReasonScopeNotApplicable allows: the scope applies only to a user's token, and organisations pass without it.
	ReasonScopeNotApplicable Reason = C.ORBGATE_REASON_SCOPE_NOT_APPLICABLE
	// ReasonScopeMissing denies with 403: the token does not carry the required scope.
	ReasonScopeMissing Reason = C.ORBGATE_REASON_SCOPE_MISSING
	// ReasonScopeHeld allows: the token carries the required scope.
	ReasonScopeHeld Reason = C.ORBGATE_REASON_SCOPE_HELD
)

// String is the reason's name, as in scope_missing; empty for an unknown number.
func (r Reason) String() string { return static(C.orbgate_reason_name(C.uint8_t(r))) }

// Explanation is the reason in one sentence for a person; empty for an unknown number.
func (r Reason) Explanation() string { return static(C.orbgate_reason_explanation(C.uint8_t(r))) }

// HTTPStatus is that of a denial for this reason; 0 for reasons that allow and for unknown numbers.
func (r Reason) HTTPStatus() int { return int(C.orbgate_reason_http_status(C.uint8_t(r))) }

// A Detail says which rule a malformed request breaks. Numbers and names are frozen.
type Detail uint8

const (
	// DetailNone is no detail: the request is not malformed.
	DetailNone Detail = C.ORBGATE_DETAIL_NONE
	// DetailMethod: a method is 1 to 16 capital letters.
	DetailMethod Detail = C.ORBGATE_DETAIL_METHOD
	// DetailLength: a target has 1 to 8,192 bytes, at most 32 segments, each at most 256 bytes.
	DetailLength Detail = C.ORBGATE_DETAIL_LENGTH
	// DetailByte: a target has only visible ASCII characters.
	DetailByte Detail = C.ORBGATE_DETAIL_BYTE
	// DetailFragment: a target never carries a #.
	DetailFragment Detail = C.ORBGATE_DETAIL_FRAGMENT
	// DetailForm: a target starts with /.
	DetailForm Detail = C.ORBGATE_DETAIL_FORM
	// DetailBackslash: a path never carries a backslash.
	DetailBackslash Detail = C.ORBGATE_DETAIL_BACKSLASH
	// DetailMatrixParam: a path never carries a ;.
	DetailMatrixParam Detail = C.ORBGATE_DETAIL_MATRIX_PARAM
	// DetailPathChar: the path carries a character that must be escaped there.
	DetailPathChar Detail = C.ORBGATE_DETAIL_PATH_CHAR
	// DetailPercent: this policy accepts no percent-encoding in a path.
	DetailPercent Detail = C.ORBGATE_DETAIL_PERCENT
	// DetailBadEscape: a % needs two hexadecimal digits after it.
	DetailBadEscape Detail = C.ORBGATE_DETAIL_BAD_ESCAPE
	// DetailEncodedControl: the path escapes a control character.
	DetailEncodedControl Detail = C.ORBGATE_DETAIL_ENCODED_CONTROL
	// DetailEncodedDelimiter: the path escapes a delimiter.
	DetailEncodedDelimiter Detail = C.ORBGATE_DETAIL_ENCODED_DELIMITER
	// DetailEncodedUnreserved: the path escapes a character that needs no escape.
	DetailEncodedUnreserved Detail = C.ORBGATE_DETAIL_ENCODED_UNRESERVED
	// DetailNonASCII: the path escapes a byte outside ASCII.
	DetailNonASCII Detail = C.ORBGATE_DETAIL_NON_ASCII
	// DetailWhitespace: a segment starts or ends with an escaped space.
	DetailWhitespace Detail = C.ORBGATE_DETAIL_WHITESPACE
	// DetailEmptySegment: the path has an empty segment or a trailing /.
	DetailEmptySegment Detail = C.ORBGATE_DETAIL_EMPTY_SEGMENT
	// DetailDotSegment: a segment of the path is nothing but dots.
	DetailDotSegment Detail = C.ORBGATE_DETAIL_DOT_SEGMENT
	// DetailNonCanonicalLiteral: a segment is an escaped spelling of a literal.
	DetailNonCanonicalLiteral Detail = C.ORBGATE_DETAIL_NON_CANONICAL_LITERAL
	// DetailAmbiguousCase: the path differs only in case from a more specific route.
	DetailAmbiguousCase Detail = C.ORBGATE_DETAIL_AMBIGUOUS_CASE
)

// String is the detail's name, as in empty_segment; empty for [DetailNone] and an unknown number.
func (d Detail) String() string { return static(C.orbgate_detail_name(C.uint8_t(d))) }

// Explanation is the detail in one sentence for a person; empty where String is.
func (d Detail) Explanation() string { return static(C.orbgate_detail_explanation(C.uint8_t(d))) }

// A Status says how a call failed. It is an error of its own, to be compared with [errors.Is].
type Status int32

const (
	statusOK Status = C.ORBGATE_STATUS_OK
	// StatusInvalidArgument: a number or flag is unknown, or there is no engine: it was closed, or never made.
	StatusInvalidArgument Status = C.ORBGATE_STATUS_INVALID_ARGUMENT
	// StatusInvalidPolicy: the policy has faults; the [*Error] names each with its line and column.
	StatusInvalidPolicy Status = C.ORBGATE_STATUS_INVALID_POLICY
	// StatusIO: the file could not be read; the [*Error] says why.
	StatusIO Status = C.ORBGATE_STATUS_IO
	// StatusNotFound: the policy has nothing of that name or number.
	StatusNotFound Status = C.ORBGATE_STATUS_NOT_FOUND
	// StatusPanic: a fault of the library was caught. The call had no effect and the library goes on working.
	StatusPanic Status = C.ORBGATE_STATUS_PANIC
)

// String is the status's name, as in invalid_argument; empty for an unknown number.
func (s Status) String() string { return static(C.orbgate_status_name(C.int32_t(s))) }

// What of a packed decision is at which bits: see orbgate.h.
const (
	effectAllow    = C.ORBGATE_EFFECT_ALLOW
	chargeStated   = C.ORBGATE_CHARGE_STATED
	chargeConsumes = C.ORBGATE_CHARGE_CONSUMES
	chargeAmount   = C.ORBGATE_CHARGE_AMOUNT_STATED
	chargeBonus    = C.ORBGATE_CHARGE_BONUS_ALLOWED
	defaultStatus  = C.ORBGATE_DEFAULT_HTTP_STATUS
)
