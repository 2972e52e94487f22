package orbgate

// A Decision is the result for a request: a small value that you can copy, and keep after its engine is closed. The
// zero Decision denies.
type Decision struct {
	table *table
	// bits 0 to 1 effect, 2 to 5 charge, 6 to 13 detail, 14 to 31 route (or the route that the request matches, if the
	// decision must not name it), 32 to 47 scope, 48 to 52 reason; with effect 0, the status.
	packed uint64
}

// IsAllow reports whether the call is allowed.
func (d Decision) IsAllow() bool { return d.packed&3 == effectAllow }

// Err returns nil if a decision was made, even if it is a denial. Otherwise it returns [ErrClosed], or the [Status]
// that explains why there is no decision, and the call must be denied.
func (d Decision) Err() error {
	switch {
	case d.packed&3 != 0:
		return nil
	case d.packed == 0:
		return ErrClosed
	}
	return Status(d.packed >> 48 & 31)
}

// Reason returns the reason.
func (d Decision) Reason() Reason {
	if d.packed&3 == 0 {
		return ReasonNone
	}
	return Reason(d.packed >> 48 & 31)
}

// Detail returns the rule that a malformed request breaks.
func (d Decision) Detail() Detail { return Detail(d.packed >> 6 & 255) }

// HTTPStatus returns the status of a denial, which must be sent with an empty body; 0 for an allow, and 403 if no
// decision was made.
func (d Decision) HTTPStatus() int {
	if d.packed&3 == 0 {
		return defaultHTTPStatus
	}
	return d.Reason().HTTPStatus()
}

// RouteNumber returns the route's number in its engine, from 1, or 0 if there is no route. Use it as an index into an
// array with one entry per route, such as counters. For [ReasonMethodNotDeclared], it is one of the routes with the
// path's template.
func (d Decision) RouteNumber() int {
	switch d.Reason() {
	case ReasonNoToken, ReasonInvalidToken:
		return 0
	}
	return d.foundRoute()
}

// AboutNumber returns the number of the route of [Decision.About]; 0 if there is none.
func (d Decision) AboutNumber() int {
	if d.Reason() == ReasonMethodNotDeclared {
		return 0
	}
	return d.foundRoute()
}

func (d Decision) foundRoute() int { return int(d.packed >> 14 & 0x3ffff) }

// ScopeNumber returns the scope's number in its engine, from 1, in the order of the names; 0 if there is none.
func (d Decision) ScopeNumber() int { return int(d.packed >> 32 & 0xffff) }

// A Charge is the orbs that an allowed call consumes.
type Charge struct {
	// Consumes reports whether the call consumes the user's orbs.
	Consumes bool
	// AmountStated reports whether Amount is the number of orbs. If not, the service that charges must
	// supply it.
	AmountStated bool
	Amount       uint64
	// BonusAllowed reports whether bonus orbs may be used: the call consumes orbs, and its request
	// allows bonus orbs.
	BonusAllowed bool
}

// Charge returns what the call consumes. stated is false for a denial, and if the policy doesn't state it. In that
// case, the service that charges must find out.
func (d Decision) Charge() (charge Charge, stated bool) {
	if !d.IsAllow() {
		return Charge{}, false
	}
	return chargeOf(uint32(d.packed>>2&15), d.amount())
}

// The amount that the policy states for the route or, without a route, for the scope.
func (d Decision) amount() uint64 {
	if route := d.table.route(d.RouteNumber()); route != nil {
		return route.amount
	}
	if scope := d.table.scope(d.ScopeNumber()); scope != nil {
		return scope.amount
	}
	return 0
}

// Makes a charge from its bits. The amount counts only if the bits mark it as stated.
func chargeOf(bits uint32, amount uint64) (charge Charge, stated bool) {
	if bits&chargeStated == 0 {
		return Charge{}, false
	}
	charge = Charge{Consumes: bits&chargeConsumes != 0, BonusAllowed: bits&chargeBonusAllowed != 0}
	if bits&chargeAmountStated != 0 {
		charge.Amount, charge.AmountStated = amount, true
	}
	return charge, true
}
