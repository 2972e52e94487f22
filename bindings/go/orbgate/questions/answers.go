package questions

// Made of crates/orbgate-capi/src/generate/shapes.txt by `cargo xtask codes`; not to be edited.

func (v *Position) read(r *reader) {
	for more := r.first('{', '}'); more; more = r.next('}') {
		switch r.name() {
		case "line":
			v.Line = r.number()
		case "column":
			v.Column = r.number()
		default:
			r.skip()
		}
	}
}

func (v *Orbs) read(r *reader) {
	for more := r.first('{', '}'); more; more = r.next('}') {
		switch r.name() {
		case "consumes":
			v.Consumes = r.flag()
		case "amount":
			if !r.isNull() {
				v.Amount = pointer(r.number())
			}
		default:
			r.skip()
		}
	}
}

func (v *OrbCharge) read(r *reader) {
	for more := r.first('{', '}'); more; more = r.next('}') {
		switch r.name() {
		case "consumes":
			v.Consumes = r.flag()
		case "amount":
			if !r.isNull() {
				v.Amount = pointer(r.number())
			}
		case "bonus_allowed":
			v.BonusAllowed = r.flag()
		default:
			r.skip()
		}
	}
}

func (v *RequestToken) read(r *reader) {
	for more := r.first('{', '}'); more; more = r.next('}') {
		switch r.name() {
		case "kind":
			v.Kind = r.string()
		case "scopes":
			v.Scopes = r.string()
		default:
			r.skip()
		}
	}
}

func (v *Request) read(r *reader) {
	for more := r.first('{', '}'); more; more = r.next('}') {
		switch r.name() {
		case "method":
			v.Method = r.string()
		case "target":
			v.Target = r.string()
		case "scope":
			v.Scope = r.string()
		case "token":
			if !r.isNull() {
				v.Token = new(RequestToken)
				v.Token.read(r)
			}
		case "allow_bonus_orbs_use":
			v.AllowBonusOrbsUse = r.flag()
		default:
			r.skip()
		}
	}
}

func (v *PolicyDiagnostic) read(r *reader) {
	for more := r.first('{', '}'); more; more = r.next('}') {
		switch r.name() {
		case "location":
			v.Location.read(r)
		case "message":
			v.Message = r.string()
		default:
			r.skip()
		}
	}
}

// UnmarshalJSON reads the answer from JSON.
func (v *Checks) UnmarshalJSON(text []byte) error { return unmarshal(text, v) }

func (v *Checks) read(r *reader) {
	for more := r.first('{', '}'); more; more = r.next('}') {
		switch r.name() {
		case "files":
			v.Files = list[CheckedFile](r)
		default:
			r.skip()
		}
	}
}

func (v *CheckedFile) read(r *reader) {
	for more := r.first('{', '}'); more; more = r.next('}') {
		switch r.name() {
		case "file":
			v.File = r.string()
		case "policy":
			if !r.isNull() {
				v.Policy = pointer(r.string())
			}
		case "diagnostics":
			v.Diagnostics = list[PolicyDiagnostic](r)
		case "warnings":
			v.Warnings = list[PolicyDiagnostic](r)
		default:
			r.skip()
		}
	}
}

// UnmarshalJSON reads the answer from JSON.
func (v *Lints) UnmarshalJSON(text []byte) error { return unmarshal(text, v) }

func (v *Lints) read(r *reader) {
	for more := r.first('{', '}'); more; more = r.next('}') {
		switch r.name() {
		case "files":
			v.Files = list[LintedFile](r)
		default:
			r.skip()
		}
	}
}

func (v *LintedFile) read(r *reader) {
	for more := r.first('{', '}'); more; more = r.next('}') {
		switch r.name() {
		case "file":
			v.File = r.string()
		case "policy":
			if !r.isNull() {
				v.Policy = pointer(r.string())
			}
		case "complete":
			v.Complete = r.flag()
		case "diagnostics":
			v.Diagnostics = list[PolicyDiagnostic](r)
		case "findings":
			v.Findings = list[LintFinding](r)
		default:
			r.skip()
		}
	}
}

func (v *LintFinding) read(r *reader) {
	for more := r.first('{', '}'); more; more = r.next('}') {
		switch r.name() {
		case "code":
			v.Code = r.string()
		case "level":
			v.Level = r.string()
		case "location":
			v.Location.read(r)
		case "message":
			v.Message = r.string()
		case "other":
			if !r.isNull() {
				v.Other = new(Position)
				v.Other.read(r)
			}
		case "suppressed":
			if !r.isNull() {
				v.Suppressed = pointer(r.string())
			}
		default:
			r.skip()
		}
	}
}

// UnmarshalJSON reads the answer from JSON.
func (v *Comparison) UnmarshalJSON(text []byte) error { return unmarshal(text, v) }

func (v *Comparison) read(r *reader) {
	for more := r.first('{', '}'); more; more = r.next('}') {
		switch r.name() {
		case "old":
			v.Old = r.string()
		case "new":
			v.New = r.string()
		case "verdict":
			if !r.isNull() {
				v.Verdict = pointer(r.string())
			}
		case "widens":
			v.Widens = r.flag()
		case "complete":
			v.Complete = r.flag()
		case "left_out":
			v.LeftOut = r.number()
		case "changes":
			v.Changes = list[PolicyChange](r)
		case "fails":
			v.Fails = r.strings()
		default:
			r.skip()
		}
	}
}

func (v *PolicyChange) read(r *reader) {
	for more := r.first('{', '}'); more; more = r.next('}') {
		switch r.name() {
		case "asked":
			v.Asked.read(r)
		case "before":
			if !r.isNull() {
				v.Before = new(DecidingRule)
				v.Before.read(r)
			}
		case "after":
			if !r.isNull() {
				v.After = new(DecidingRule)
				v.After.read(r)
			}
		case "wider":
			if !r.isNull() {
				v.Wider = new(Request)
				v.Wider.read(r)
			}
		case "narrower":
			if !r.isNull() {
				v.Narrower = new(Request)
				v.Narrower.read(r)
			}
		case "cost":
			if !r.isNull() {
				v.Cost = pointer(r.string())
			}
		case "payer":
			if !r.isNull() {
				v.Payer = new(Request)
				v.Payer.read(r)
			}
		case "removed":
			v.Removed = r.flag()
		default:
			r.skip()
		}
	}
}

func (v *DecidingRule) read(r *reader) {
	for more := r.first('{', '}'); more; more = r.next('}') {
		switch r.name() {
		case "route":
			if !r.isNull() {
				v.Route = pointer(r.string())
			}
		case "scope":
			v.Scope = r.string()
		case "scopes":
			if !r.isNull() {
				v.Scopes = r.lists()
			}
		case "orbs":
			if !r.isNull() {
				v.Orbs = new(Orbs)
				v.Orbs.read(r)
			}
		case "organisation":
			if !r.isNull() {
				v.Organisation = pointer(r.string())
			}
		case "location":
			v.Location.read(r)
		default:
			r.skip()
		}
	}
}

func (v *PolicyDecision) read(r *reader) {
	for more := r.first('{', '}'); more; more = r.next('}') {
		switch r.name() {
		case "decision":
			v.Decision = r.string()
		case "status":
			if !r.isNull() {
				v.Status = pointer(r.number())
			}
		case "reason":
			v.Reason = r.string()
		case "detail":
			if !r.isNull() {
				v.Detail = pointer(r.string())
			}
		case "api":
			if !r.isNull() {
				v.Api = pointer(r.string())
			}
		case "route":
			if !r.isNull() {
				v.Route = pointer(r.string())
			}
		case "scope":
			if !r.isNull() {
				v.Scope = pointer(r.string())
			}
		case "scopes":
			if !r.isNull() {
				v.Scopes = r.lists()
			}
		case "orbs":
			if !r.isNull() {
				v.Orbs = new(OrbCharge)
				v.Orbs.read(r)
			}
		case "policy":
			v.Policy = r.string()
		default:
			r.skip()
		}
	}
}

// UnmarshalJSON reads the answer from JSON.
func (v *Explanation) UnmarshalJSON(text []byte) error { return unmarshal(text, v) }

func (v *Explanation) read(r *reader) {
	for more := r.first('{', '}'); more; more = r.next('}') {
		switch r.name() {
		case "decision":
			v.Decision = r.string()
		case "status":
			if !r.isNull() {
				v.Status = pointer(r.number())
			}
		case "reason":
			v.Reason = r.string()
		case "detail":
			if !r.isNull() {
				v.Detail = pointer(r.string())
			}
		case "api":
			if !r.isNull() {
				v.Api = pointer(r.string())
			}
		case "route":
			if !r.isNull() {
				v.Route = pointer(r.string())
			}
		case "scope":
			if !r.isNull() {
				v.Scope = pointer(r.string())
			}
		case "scopes":
			if !r.isNull() {
				v.Scopes = r.lists()
			}
		case "orbs":
			if !r.isNull() {
				v.Orbs = new(OrbCharge)
				v.Orbs.read(r)
			}
		case "policy":
			v.Policy = r.string()
		case "missing_step":
			if !r.isNull() {
				v.MissingStep = pointer(r.string())
			}
		case "alternatives":
			v.Alternatives = list[TriedAlternative](r)
		case "orbs_if_allowed":
			if !r.isNull() {
				v.OrbsIfAllowed = new(OrbCharge)
				v.OrbsIfAllowed.read(r)
			}
		case "in_order":
			if !r.isNull() {
				v.InOrder = pointer(r.number())
			}
		case "rules":
			v.Rules = list[CheckedRule](r)
		case "near":
			v.Near = list[NearRoute](r)
		default:
			r.skip()
		}
	}
}

func (v *TriedAlternative) read(r *reader) {
	for more := r.first('{', '}'); more; more = r.next('}') {
		switch r.name() {
		case "scopes":
			v.Scopes = r.strings()
		case "lacking":
			v.Lacking = r.strings()
		default:
			r.skip()
		}
	}
}

func (v *CheckedRule) read(r *reader) {
	for more := r.first('{', '}'); more; more = r.next('}') {
		switch r.name() {
		case "rule":
			v.Rule = r.string()
		case "detail":
			v.Detail = r.string()
		case "state":
			v.State = r.string()
		default:
			r.skip()
		}
	}
}

func (v *NearRoute) read(r *reader) {
	for more := r.first('{', '}'); more; more = r.next('}') {
		switch r.name() {
		case "route":
			v.Route = r.string()
		case "location":
			v.Location.read(r)
		case "why":
			v.Why = r.string()
		case "meant":
			if !r.isNull() {
				v.Meant = pointer(r.string())
			}
		default:
			r.skip()
		}
	}
}

// UnmarshalJSON reads the answer from JSON.
func (v *Needs) UnmarshalJSON(text []byte) error { return unmarshal(text, v) }

func (v *Needs) read(r *reader) {
	for more := r.first('{', '}'); more; more = r.next('}') {
		switch r.name() {
		case "policy":
			v.Policy = r.string()
		case "kind":
			v.Kind = r.string()
		case "calls":
			v.Calls = r.number()
		case "scopes":
			v.Scopes = r.strings()
		case "is_smallest":
			v.IsSmallest = r.flag()
		case "needs":
			v.Needs = list[NeededScope](r)
		case "refusals":
			v.Refusals = list[RefusedCalls](r)
		default:
			r.skip()
		}
	}
}

func (v *NeededScope) read(r *reader) {
	for more := r.first('{', '}'); more; more = r.next('}') {
		switch r.name() {
		case "scope":
			v.Scope = r.string()
		case "calls":
			v.Calls = r.number()
		case "first":
			v.First.read(r)
		default:
			r.skip()
		}
	}
}

func (v *RefusedCalls) read(r *reader) {
	for more := r.first('{', '}'); more; more = r.next('}') {
		switch r.name() {
		case "reason":
			v.Reason = r.string()
		case "detail":
			if !r.isNull() {
				v.Detail = pointer(r.string())
			}
		case "route":
			if !r.isNull() {
				v.Route = pointer(r.string())
			}
		case "calls":
			v.Calls = r.number()
		case "first":
			v.First.read(r)
		default:
			r.skip()
		}
	}
}

func (v *FirstCall) read(r *reader) {
	for more := r.first('{', '}'); more; more = r.next('}') {
		switch r.name() {
		case "at":
			v.At = r.number()
		case "call":
			v.Call = r.string()
		default:
			r.skip()
		}
	}
}

// UnmarshalJSON reads the answer from JSON.
func (v *Reach) UnmarshalJSON(text []byte) error { return unmarshal(text, v) }

func (v *Reach) read(r *reader) {
	for more := r.first('{', '}'); more; more = r.next('}') {
		switch r.name() {
		case "policy":
			v.Policy = r.string()
		case "token":
			v.Token.read(r)
		case "allowed":
			v.Allowed = list[ReachedRoute](r)
		default:
			r.skip()
		}
	}
}

func (v *ReachedRoute) read(r *reader) {
	for more := r.first('{', '}'); more; more = r.next('}') {
		switch r.name() {
		case "route":
			if !r.isNull() {
				v.Route = pointer(r.string())
			}
		case "scope":
			v.Scope = r.string()
		case "scopes":
			if !r.isNull() {
				v.Scopes = r.lists()
			}
		case "orbs":
			if !r.isNull() {
				v.Orbs = new(Orbs)
				v.Orbs.read(r)
			}
		case "reason":
			v.Reason = r.string()
		case "location":
			v.Location.read(r)
		default:
			r.skip()
		}
	}
}

// UnmarshalJSON reads the answer from JSON.
func (v *Table) UnmarshalJSON(text []byte) error { return unmarshal(text, v) }

func (v *Table) read(r *reader) {
	for more := r.first('{', '}'); more; more = r.next('}') {
		switch r.name() {
		case "policy":
			v.Policy = r.string()
		case "name":
			if !r.isNull() {
				v.Name = pointer(r.string())
			}
		case "target":
			v.Target = r.string()
		case "apis":
			v.Apis = list[TableApi](r)
		case "headings":
			v.Headings = r.strings()
		default:
			r.skip()
		}
	}
}

func (v *TableApi) read(r *reader) {
	for more := r.first('{', '}'); more; more = r.next('}') {
		switch r.name() {
		case "name":
			v.Name = r.string()
		case "token":
			if !r.isNull() {
				v.Token = pointer(r.string())
			}
		case "organisation":
			if !r.isNull() {
				v.Organisation = pointer(r.string())
			}
		case "closed":
			v.Closed = list[ClosedTemplate](r)
		case "scopes":
			v.Scopes = list[TableScope](r)
		default:
			r.skip()
		}
	}
}

func (v *ClosedTemplate) read(r *reader) {
	for more := r.first('{', '}'); more; more = r.next('}') {
		switch r.name() {
		case "template":
			v.Template = r.string()
		case "location":
			v.Location.read(r)
		default:
			r.skip()
		}
	}
}

func (v *TableScope) read(r *reader) {
	for more := r.first('{', '}'); more; more = r.next('}') {
		switch r.name() {
		case "scope":
			v.Scope = r.string()
		case "permits":
			if !r.isNull() {
				v.Permits = pointer(r.string())
			}
		case "orbs":
			if !r.isNull() {
				v.Orbs = new(Orbs)
				v.Orbs.read(r)
			}
		case "location":
			v.Location.read(r)
		case "routes":
			v.Routes = list[TableRoute](r)
		default:
			r.skip()
		}
	}
}

func (v *TableRoute) read(r *reader) {
	for more := r.first('{', '}'); more; more = r.next('}') {
		switch r.name() {
		case "route":
			v.Route = r.string()
		case "method":
			v.Method = r.string()
		case "template":
			v.Template = r.string()
		case "scopes":
			if !r.isNull() {
				v.Scopes = r.lists()
			}
		case "orbs":
			v.Orbs.read(r)
		case "location":
			v.Location.read(r)
		default:
			r.skip()
		}
	}
}

// UnmarshalJSON reads the answer from JSON.
func (v *Usage) UnmarshalJSON(text []byte) error { return unmarshal(text, v) }

func (v *Usage) read(r *reader) {
	for more := r.first('{', '}'); more; more = r.next('}') {
		switch r.name() {
		case "policy":
			v.Policy = r.string()
		case "calls":
			v.Calls = r.number()
		case "without_token":
			v.WithoutToken = r.number()
		case "unused":
			v.Unused = r.strings()
		case "scopes":
			v.Scopes = list[ScopeUsage](r)
		default:
			r.skip()
		}
	}
}

func (v *ScopeUsage) read(r *reader) {
	for more := r.first('{', '}'); more; more = r.next('}') {
		switch r.name() {
		case "scope":
			v.Scope = r.string()
		case "granted":
			v.Granted = r.number()
		case "used":
			v.Used = r.number()
		case "needed":
			v.Needed = r.number()
		case "in_policy":
			v.InPolicy = r.flag()
		case "last":
			if !r.isNull() {
				v.Last = new(LastUse)
				v.Last.read(r)
			}
		default:
			r.skip()
		}
	}
}

func (v *LastUse) read(r *reader) {
	for more := r.first('{', '}'); more; more = r.next('}') {
		switch r.name() {
		case "line":
			v.Line = r.number()
		case "time":
			if !r.isNull() {
				v.Time = pointer(r.string())
			}
		default:
			r.skip()
		}
	}
}

// UnmarshalJSON reads the answer from JSON.
func (v *Callers) UnmarshalJSON(text []byte) error { return unmarshal(text, v) }

func (v *Callers) read(r *reader) {
	for more := r.first('{', '}'); more; more = r.next('}') {
		switch r.name() {
		case "policy":
			v.Policy = r.string()
		case "method":
			v.Method = r.string()
		case "target":
			v.Target = r.string()
		case "tokens":
			v.Tokens = list[CallerDecision](r)
		default:
			r.skip()
		}
	}
}

func (v *CallerDecision) read(r *reader) {
	for more := r.first('{', '}'); more; more = r.next('}') {
		switch r.name() {
		case "name":
			v.Name = r.string()
		case "line":
			v.Line = r.number()
		case "decision":
			v.Decision.read(r)
		default:
			r.skip()
		}
	}
}
