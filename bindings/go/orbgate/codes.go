package orbgate

// Codes are generated from the library's tables by `cargo xtask codes`. Their names and sentences come from the library
// at run time.

// AllowBonusOrbs states that the request contains `allowBonusOrbsUse: true`.
const AllowBonusOrbs Option = allowBonusOrbs

// A TokenKind is the kind of a token. Any other number is an invalid argument, and so a denial.
type TokenKind uint8

const (
	// cargo xtask codes: kinds
	// KindUnknown: an unknown kind: denied as invalid_token.
	KindUnknown TokenKind = 0
	// KindUser: a user's token.
	KindUser TokenKind = 1
	// KindOrganisation: an organisation's token.
	KindOrganisation TokenKind = 2
	// KindNone: no token was supplied: denied as no_token.
	KindNone TokenKind = 255
	// end of kinds
)

// String returns the kind's name, such as user; empty for [KindNone] and an unknown number.
func (k TokenKind) String() string {
	switch k {
	case KindUser:
		return "user"
	case KindOrganisation:
		return "organisation"
	case KindUnknown:
		return "unknown"
	default:
		return ""
	}
}

// TokenKindOf returns the kind with this name, user or organisation. Any other string is [KindUnknown],
// which is denied.
func TokenKindOf(name string) TokenKind { return tokenKind(name) }

// A Reason is why a request was allowed or denied. Numbers and names are frozen.
type Reason uint8

const (
	// cargo xtask codes: reasons
	// ReasonNone: no decision was made.
	ReasonNone Reason = 0
	// ReasonMalformedRequest denies with 400: the request has no single, safe spelling.
	ReasonMalformedRequest Reason = 1
	// ReasonNoToken denies with 401: no token was supplied.
	ReasonNoToken Reason = 2
	// ReasonInvalidToken denies with 401: the token was refused, or its kind is unknown.
	ReasonInvalidToken Reason = 3
	// ReasonNoRoute denies with 404: the policy has no such route or scope.
	ReasonNoRoute Reason = 4
	// ReasonMethodNotDeclared denies with 405: the route does not declare this method.
	ReasonMethodNotDeclared Reason = 5
	// ReasonUserTokenRequired denies with 403: the scope applies only to a user's token.
	ReasonUserTokenRequired Reason = 6
	// ReasonScopeNotApplicable allows: the scope applies only to a user's token; organisations pass without it.
	ReasonScopeNotApplicable Reason = 7
	// ReasonScopeMissing denies with 403: the token does not carry the required scope.
	ReasonScopeMissing Reason = 8
	// ReasonScopeHeld allows: the token carries the required scope.
	ReasonScopeHeld Reason = 9
	// ReasonPublicRoute allows: the route needs no token.
	ReasonPublicRoute Reason = 10
	// ReasonInsufficientOrbs denies with 402: the account doesn't have the orbs that the call consumes.
	ReasonInsufficientOrbs Reason = 11
	// ReasonLedgerUnavailable denies with 503: the ledger didn't answer in time.
	ReasonLedgerUnavailable Reason = 12
	// ReasonInsufficientUserAuthentication denies with 401: the token lacks only scopes that a fresh or stronger login gives.
	ReasonInsufficientUserAuthentication Reason = 13
	// end of reasons
)

// String returns the reason's name, for example scope_missing; empty for an unknown number.
func (r Reason) String() string { return named().reasons[r].name }

// Explanation returns a human-readable sentence; empty for an unknown number.
func (r Reason) Explanation() string { return named().reasons[r].explanation }

// HTTPStatus returns the status of a denial with this reason; 0 for reasons that allow and for
// unknown numbers.
func (r Reason) HTTPStatus() int {
	switch r {
	// cargo xtask codes: denials
	case ReasonMalformedRequest:
		return 400
	case ReasonNoToken:
		return 401
	case ReasonInvalidToken:
		return 401
	case ReasonNoRoute:
		return 404
	case ReasonMethodNotDeclared:
		return 405
	case ReasonUserTokenRequired:
		return 403
	case ReasonScopeMissing:
		return 403
	case ReasonInsufficientOrbs:
		return 402
	case ReasonLedgerUnavailable:
		return 503
	case ReasonInsufficientUserAuthentication:
		return 401
	// end of denials
	default:
		return 0
	}
}

// A Detail is the rule that a malformed request breaks. Numbers and names are frozen.
type Detail uint8

const (
	// cargo xtask codes: details
	// DetailNone: the request is not malformed.
	DetailNone Detail = 0
	// DetailMethod: a method is 1 to 16 capital letters.
	DetailMethod Detail = 1
	// DetailLength: a target has 1 to 8,192 bytes, at most 32 segments, each at most 256 bytes.
	DetailLength Detail = 2
	// DetailByte: a target has only visible ASCII characters.
	DetailByte Detail = 3
	// DetailFragment: a target never carries a #.
	DetailFragment Detail = 4
	// DetailForm: a target starts with /.
	DetailForm Detail = 5
	// DetailBackslash: a path never carries a \.
	DetailBackslash Detail = 6
	// DetailMatrixParam: a path never carries a ;.
	DetailMatrixParam Detail = 7
	// DetailPathChar: the path carries a character that must be escaped there.
	DetailPathChar Detail = 8
	// DetailPercent: this policy accepts no percent-encoding in a path.
	DetailPercent Detail = 9
	// DetailBadEscape: a % needs two hexadecimal digits after it.
	DetailBadEscape Detail = 10
	// DetailEncodedControl: the path escapes a control character.
	DetailEncodedControl Detail = 11
	// DetailEncodedDelimiter: the path escapes a delimiter.
	DetailEncodedDelimiter Detail = 12
	// DetailEncodedUnreserved: the path escapes a character that needs no escape.
	DetailEncodedUnreserved Detail = 13
	// DetailNonASCII: the path escapes a byte outside ASCII.
	DetailNonASCII Detail = 14
	// DetailWhitespace: a segment starts or ends with an escaped space.
	DetailWhitespace Detail = 15
	// DetailEmptySegment: the path has an empty segment or a trailing /.
	DetailEmptySegment Detail = 16
	// DetailDotSegment: a segment of the path is nothing but dots.
	DetailDotSegment Detail = 17
	// DetailNonCanonicalLiteral: a segment is an escaped spelling of a literal.
	DetailNonCanonicalLiteral Detail = 18
	// DetailAmbiguousCase: the path differs only in case from a more specific route.
	DetailAmbiguousCase Detail = 19
	// DetailUpgrade: a request never asks for an upgrade to h2c.
	DetailUpgrade Detail = 20
	// DetailInsufficient: the account has too few orbs.
	DetailInsufficient Detail = 21
	// DetailBonusNotAllowed: bonus orbs would suffice, but the request doesn't allow them.
	DetailBonusNotAllowed Detail = 22
	// DetailTemporarilyHeld: other calls hold the missing orbs.
	DetailTemporarilyHeld Detail = 23
	// DetailFrozen: the account is frozen.
	DetailFrozen Detail = 24
	// DetailProof: the token is valid, but nothing proves that it is its sender's.
	DetailProof Detail = 25
	// end of details
)

// String returns the detail's name, for example empty_segment; empty for [DetailNone] and an
// unknown number.
func (d Detail) String() string { return named().details[d].name }

// Explanation returns a human-readable sentence; empty if String is.
func (d Detail) Explanation() string { return named().details[d].explanation }

// A Status is how a call failed. It is an error that you can compare with [errors.Is]. Using a closed or zero engine is
// an invalid argument.
type Status int32

const (
	// cargo xtask codes: statuses
	// statusOK: done; the outputs are written.
	statusOK Status = 0
	// StatusInvalidArgument: a pointer is null or misaligned, or a length, offset, number, flag or size is out of range.
	StatusInvalidArgument Status = 1
	// StatusInvalidPolicy: the policy has errors; the error lists each with its line and column.
	StatusInvalidPolicy Status = 2
	// StatusIO: the file can't be read; the error states the reason.
	StatusIO Status = 3
	// StatusNotFound: the policy has nothing with that name or number.
	StatusNotFound Status = 4
	// StatusPanic: a bug in the library was caught: the call had no effect, and later calls work.
	StatusPanic Status = 5
	// StatusInvalidConfiguration: the token configuration, or an option of a gate, has errors; the error lists each.
	StatusInvalidConfiguration Status = 6
	// StatusTooSmall: the answer needs more room; the step keeps it.
	StatusTooSmall Status = 7
	// StatusFull: too many steps are open, so none has begun; end those that no request needs.
	StatusFull Status = 8
	// end of statuses
)

// String returns the status's name, for example invalid_argument; empty for an unknown number.
func (s Status) String() string {
	if s < 0 || int(s) >= len(named().statuses) {
		return ""
	}
	return named().statuses[s]
}

// The other numbers of the C ABI. A library with another major version than abiVersion, or an older minor version, is
// rejected.
const (
	// cargo xtask codes: numbers
	abiVersion         = 65536
	effectInvalid      = 0
	effectDeny         = 1
	effectAllow        = 2
	answerJSON         = 0
	answerFields       = 1
	defaultHTTPStatus  = 403
	maxPolicyBytes     = 8388608
	chargeStated       = 1
	chargeConsumes     = 2
	chargeAmountStated = 4
	chargeBonusAllowed = 8
	allowBonusOrbs     = 1
	packAbout          = 2
	// end of numbers
)
