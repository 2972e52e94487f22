package orbgate

import "encoding/json"

// A Decision is the answer to a request: a small value that may be copied and kept; it keeps its policy
// in memory. The zero Decision denies.
type Decision struct {
	held *reference
	// bits 0 to 1 effect, 2 to 5 charge, 6 to 13 detail, 14 to 31 route, 32 to 47 scope, 48 to 52 reason; with effect 0
	// the status.
	packed uint64
}

// IsAllow says whether the call may be made.
func (d Decision) IsAllow() bool { return d.packed&3 == effectAllow }

// Err is nil where a decision was made, be it a denial. Else it is the [Status] that says why none was, and the call must be
// refused.
func (d Decision) Err() error {
	if d.packed&3 != 0 {
		return nil
	}
	if d.packed == 0 {
		return StatusInvalidArgument
	}
	return Status(d.packed >> 48 & 31)
}

// Reason says why.
func (d Decision) Reason() Reason {
	if d.packed&3 == 0 {
		return ReasonNone
	}
	return Reason(d.packed >> 48 & 31)
}

// Detail names the rule that a malformed request breaks.
func (d Decision) Detail() Detail { return Detail(d.packed >> 6 & 255) }

// HTTPStatus is that of a denial, to be sent with an empty body; 0 on an allow, and 403 where no decision was made.
func (d Decision) HTTPStatus() int {
	if d.packed&3 == 0 {
		return deniedByDefault
	}
	return d.Reason().HTTPStatus()
}

// RouteNumber is the route's number in its engine, from 1, for arrays with an entry for each route, as counters; 0 where there
// is none. For [ReasonMethodNotDeclared] it is one of the routes that share the path's template.
func (d Decision) RouteNumber() int { return int(d.packed >> 14 & 0x3ffff) }

// ScopeNumber is the scope's number in its engine, from 1, in the order of their names; 0 where there is none.
func (d Decision) ScopeNumber() int { return int(d.packed >> 32 & 0xffff) }

// A Charge is what an allowed call consumes.
type Charge struct {
	// Consumes says that the call consumes the user's orbs.
	Consumes bool
	// AmountStated says that Amount is how many; without it whoever charges must supply it.
	AmountStated bool
	Amount       uint64
	// BonusAllowed says that bonus orbs may be used: the call consumes orbs and its request allows it.
	BonusAllowed bool
}

// Charge is what the call consumes. It is not there on a denial, nor where the policy states no orb column: then whoever
// charges must find out.
func (d Decision) Charge() (charge Charge, stated bool) {
	bits := d.packed >> 2 & 15
	if !d.IsAllow() || bits&chargeStated == 0 {
		return Charge{}, false
	}
	charge = Charge{Consumes: bits&chargeConsumes != 0, BonusAllowed: bits&chargeBonus != 0}
	if bits&chargeAmount != 0 {
		amount, err := d.held.unpack(d.packed)
		charge.Amount, charge.AmountStated = amount, err == nil
	}
	return charge, true
}

// Words are a decision in words: those of the JSON interface. A text that is null there is empty here.
type Words struct {
	// Decision is allow or deny.
	Decision string
	// Reason and Detail are the names of the codes.
	Reason, Detail string
	// API of the route or scope.
	API string
	// Route is METHOD /template; for method_not_declared the template alone.
	Route string
	// Scope that the call needs.
	Scope string
	// Policy is the digest, sha256:….
	Policy string
}

// Words puts the decision into words, for logs and audits; the texts are copied. Where no decision was made it is the error
// of [Decision.Err].
func (d Decision) Words() (Words, error) {
	if err := d.Err(); err != nil {
		return Words{}, err
	}
	return d.held.words(d.packed)
}

// MarshalJSON gives the decision as `orbgate decide --json` prints it.
func (d Decision) MarshalJSON() ([]byte, error) {
	words, err := d.Words()
	if err != nil {
		return nil, err
	}
	type orbs struct {
		Consumes     bool    `json:"consumes"`
		Amount       *uint64 `json:"amount"`
		BonusAllowed bool    `json:"bonus_allowed"`
	}
	document := struct {
		Decision string  `json:"decision"`
		Status   *int    `json:"status"`
		Reason   string  `json:"reason"`
		Detail   *string `json:"detail"`
		API      *string `json:"api"`
		Route    *string `json:"route"`
		Scope    *string `json:"scope"`
		Orbs     *orbs   `json:"orbs"`
		Policy   string  `json:"policy"`
	}{
		Decision: words.Decision,
		Status:   orNull(d.HTTPStatus()),
		Reason:   words.Reason,
		Detail:   orNull(words.Detail),
		API:      orNull(words.API),
		Route:    orNull(words.Route),
		Scope:    orNull(words.Scope),
		Policy:   words.Policy,
	}
	if charge, stated := d.Charge(); stated {
		document.Orbs = &orbs{Consumes: charge.Consumes, BonusAllowed: charge.BonusAllowed}
		if charge.AmountStated {
			document.Orbs.Amount = &charge.Amount
		}
	}
	return json.Marshal(document)
}

func orNull[T comparable](value T) *T {
	var empty T
	if value == empty {
		return nil
	}
	return &value
}
