package orbgate

// A Decision is the answer to a request: a small value that may be copied and kept, also beyond its engine. The zero
// Decision denies.
type Decision struct {
	table *table
	// bits 0 to 1 effect, 2 to 5 charge, 6 to 13 detail, 14 to 31 route, or what the request is about where the route may not
	// be named, 32 to 47 scope, 48 to 52 reason; with effect 0 the status.
	packed uint64
}

// IsAllow says whether the call may be made.
func (d Decision) IsAllow() bool { return d.packed&3 == effectAllow }

// Err is nil if a decision was made, also if it is a denial. Otherwise it is [ErrClosed], or the [Status] that says why there is no
// decision, and the call must be refused.
func (d Decision) Err() error {
	switch {
	case d.packed&3 != 0:
		return nil
	case d.packed == 0:
		return ErrClosed
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

// HTTPStatus is the status of a denial, to be sent with an empty body; 0 on an allow, and 403 if no decision was made.
func (d Decision) HTTPStatus() int {
	if d.packed&3 == 0 {
		return defaultHTTPStatus
	}
	return d.Reason().HTTPStatus()
}

// RouteNumber is the route's number in its engine, from 1, for arrays with an entry for each route, as counters; 0 where there
// is none. For [ReasonMethodNotDeclared] it is one of the routes that share the path's template.
func (d Decision) RouteNumber() int {
	switch d.Reason() {
	case ReasonNoToken, ReasonInvalidToken:
		return 0
	}
	return d.foundRoute()
}

// AboutNumber is the number of the route of [Decision.About]; 0 where there is none.
func (d Decision) AboutNumber() int {
	if d.Reason() == ReasonMethodNotDeclared {
		return 0
	}
	return d.foundRoute()
}

func (d Decision) foundRoute() int { return int(d.packed >> 14 & 0x3ffff) }

// ScopeNumber is the scope's number in its engine, from 1, in the order of their names; 0 where there is none.
func (d Decision) ScopeNumber() int { return int(d.packed >> 32 & 0xffff) }

// A Charge is what an allowed call consumes.
type Charge struct {
	// Consumes says that the call consumes the user's orbs.
	Consumes bool
	// AmountStated says that Amount is how many; without it the service that charges must supply it.
	AmountStated bool
	Amount       uint64
	// BonusAllowed says that bonus orbs may be used: the call consumes orbs and its request allows it.
	BonusAllowed bool
}

// Charge is what the call consumes. It is not there on a denial, nor where the policy states no orb column: then the service that
// charges must find out.
func (d Decision) Charge() (charge Charge, stated bool) {
	if !d.IsAllow() {
		return Charge{}, false
	}
	return chargeOf(uint32(d.packed>>2&15), d.amount())
}

// As much as the policy states for the route, or for the scope where there is no route.
func (d Decision) amount() uint64 {
	if route := d.table.route(d.RouteNumber()); route != nil {
		return route.amount
	}
	if scope := d.table.scope(d.ScopeNumber()); scope != nil {
		return scope.amount
	}
	return 0
}

// A charge from its bits. The amount counts only where they say that it is stated.
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
