package orbgate

import (
	"sync"
	"sync/atomic"
	"testing"
)

// Calls, owners and the last Close may run in any order: the policy is freed once, after the last call.
func TestAPolicyIsFreedOnceAndUnderNobody(t *testing.T) {
	for range 200 {
		policy := must(FromYAML(five))(t).current()
		cancel := policy.kept
		var freed, inside atomic.Int64
		policy.kept = func() {
			cancel()
			if freed.Add(1) != 1 || inside.Load() != 0 {
				t.Errorf("freed %d times, under %d calls", freed.Load(), inside.Load())
			}
		}
		var others sync.WaitGroup
		for owner := range 8 {
			others.Add(1)
			go func() {
				defer others.Done()
				for lane := policy.enter(); lane != nil; lane = policy.enter() {
					inside.Add(1)
					if freed.Load() != 0 {
						t.Error("a call under way in a policy that is gone")
					}
					inside.Add(-1)
					policy.leave(lane)
				}
			}()
			others.Add(1)
			go func() {
				defer others.Done()
				for range owner {
					if policy.own() {
						policy.disown()
					}
				}
			}()
		}
		policy.disown()
		others.Wait()
		if freed.Load() != 1 || policy.own() || policy.enter() != nil {
			t.Fatalf("freed %d times", freed.Load())
		}
	}
}

// A call that comes too late finds its lane closed, and drains it once more in vain: another lane still has a call.
func TestCallsThatComeTooLateFreeNothing(t *testing.T) {
	policy := must(FromYAML(five))(t).current()
	cancel := policy.kept
	freed := 0
	policy.kept = func() { cancel(); freed++ }
	held := &policy.lanes[(nearby()+1)%lanes]
	held.calls.Add(1)
	policy.disown()
	for range 100 {
		if policy.enter() != nil {
			t.Fatal("a call of a closed policy")
		}
	}
	if freed != 0 {
		t.Error("freed under a call")
	}
	policy.leave(held)
	if freed != 1 {
		t.Errorf("freed %d times", freed)
	}
}
