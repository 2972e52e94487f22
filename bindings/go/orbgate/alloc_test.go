//go:build !race

package orbgate

import "testing"

func TestDecidingAllocatesNothing(t *testing.T) {
	engine := mustExternal(t)
	handle := NewHandle(engine)
	set := must(engine.ScopeSet("write:voxies"))(t)
	route := must(engine.FindRoute("POST", run))(t)
	priced := must(FromYAML(five))(t)
	scopes := string([]byte("read:orbs write:voxies"))
	batch, decisions := mixed(t, engine, 3*chunk)
	allows := 0
	count := func(decision Decision) {
		if decision.IsAllow() {
			allows++
		}
	}
	for name, call := range map[string]func(){
		"text":     func() { count(engine.Decide("POST", run, UserToken(scopes), AllowBonusOrbs)) },
		"interned": func() { count(engine.Decide("POST", run, Token{Kind: KindUser, ScopeSet: set})) },
		"route":    func() { count(engine.DecideRoute(route, UserToken(scopes))) },
		"scope":    func() { count(engine.DecideScope("write:voxies", UserToken(scopes))) },
		"handle":   func() { count(handle.Decide("POST", run, UserToken(scopes), AllowBonusOrbs)) },
		"amount": func() {
			decision := priced.Decide("POST", "/five/run", UserToken("call:five"))
			if charge, _ := decision.Charge(); charge.Amount == 5 && decision.Reason().String() == "scope_held" {
				count(decision)
			}
		},
		"batch": func() {
			decided, err := engine.DecideBatch(decisions[:0], batch)
			if err == nil && len(decided) == len(decisions) {
				count(decided[0])
			}
		},
	} {
		allows = 0
		if allocations := testing.AllocsPerRun(100, call); allocations != 0 {
			t.Errorf("%s: %v allocations", name, allocations)
		}
		if allows != 101 {
			t.Errorf("%s: %d of 101 calls were allowed", name, allows)
		}
	}
}
