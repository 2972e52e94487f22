//go:build !orbgate_cgo

package orbgate

import (
	"errors"
	"sync"
	"testing"

	"github.com/orbgate/orbgate/bindings/go/orbgate/internal/steps"
)

// Where an instance traps there is no answer; the next call has another instance.
func TestATrapIsADenialAndTheNextCallHasAnotherInstance(t *testing.T) {
	opened := mustExternal(t)
	token := UserToken("write:voxies")
	broken := opened.current().engine
	broken.address = 0x8000_0000 // far after the end of its memory: what is added to it must not wrap around to the beginning
	var batch Batch
	batch.Add("POST", run, token)
	for range 3 * lanes {
		for name, packed := range map[string]uint64{
			"decide":       broken.decide("POST", run, token, 0),
			"decide route": broken.decideRoute(RouteID{1, 1}, token, 0),
			"decide scope": broken.decideScope("write:voxies", token, 0),
		} {
			decision := Decision{nil, packed}
			if decision.IsAllow() || decision.HTTPStatus() != 403 || !errors.Is(decision.Err(), StatusPanic) {
				t.Errorf("%s: %v", name, decision.Err())
			}
		}
		var out [1]uint64
		if status := broken.decideRows(&batch, 0, false, out[:]); status != StatusPanic || out[0] != 0 {
			t.Error(status, out)
		}
		if _, status := broken.table(); status != StatusPanic {
			t.Error(status)
		}
		if _, status := broken.findRoute("POST", run); status != StatusPanic {
			t.Error(status)
		}
		if !opened.Decide("POST", run, token).IsAllow() {
			t.Error("the next call is denied")
		}
	}
}

// Attempts are numbered in each instance. So after a trap, a late report of a call isn't taken for one of the new instance's attempt.
func TestALateReportAfterATrapIsNotAnotherAttempts(t *testing.T) {
	const tokens = "orbgate_token: 1\nissuers: [{ issuer: https://id.example.com, audience: a, kind: user, algorithms: [ES256], jwks_uri: https://id.example.com/keys }]\n"
	made, err := newGate(&steps.Make{Tokens: tokens})
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	library := made.(*gateOf).library.(*wasmGate)
	call := func() *steps.Step {
		step := new(steps.Step)
		if err := made.Ask(nil, &steps.Warm{}, new(steps.Step)); err != nil {
			t.Fatal(err)
		}
		if err := made.Ask(nil, &steps.NextCall{}, step); err != nil || step.Number != steps.KindCall {
			t.Fatal(step.Number, err)
		}
		return step
	}
	late := call()
	if status := library.locked(func() Status { return StatusPanic }); status != StatusPanic {
		t.Fatal(status)
	}
	next := call()
	if late.Call.Attempt != next.Call.Attempt {
		t.Fatal("the attempts have different numbers", late.Call.Attempt, next.Call.Attempt)
	}
	report := func(step *steps.Step) error {
		return made.Ask(nil, &steps.Called{Attempt: step.Call.Attempt, Failure: steps.FetchTimeout, MonotonicMS: 1}, step)
	}
	if err := report(late); !errors.Is(err, StatusInvalidArgument) {
		t.Error(err)
	}
	status := new(steps.Step)
	if err := made.Ask(nil, &steps.Status{}, status); err != nil || status.KeyStatus.Issuers[0].Failure != "" {
		t.Error(status.KeyStatus, err)
	}
	if err := report(next); err != nil {
		t.Error(err)
	}
	if err := made.Ask(nil, &steps.Status{}, status); err != nil || status.KeyStatus.Issuers[0].Failure == "" {
		t.Error(status.KeyStatus, err)
	}
}

// Any number of goroutines may ask at once: each has an instance of its own, and no more are kept than there is work for.
func TestInstancesAreReused(t *testing.T) {
	opened := mustExternal(t)
	pool := opened.current().engine.pool
	var callers sync.WaitGroup
	for range 64 {
		callers.Add(1)
		go func() {
			defer callers.Done()
			for range 200 {
				if !opened.Decide("POST", run, UserToken("write:voxies")).IsAllow() {
					t.Error("denied")
				}
			}
		}()
	}
	callers.Wait()
	resting := pool.instances()
	if len(resting) == 0 || len(resting) > 64 {
		t.Errorf("%d instances", len(resting))
	}
	// A request that is larger than the room goes to an instance that is not kept.
	long := string(make([]byte, 4*roomSize))
	opened.Decide("POST", long, UserToken(long))
	for _, i := range pool.instances() {
		if i.grown || len(i.memory) != len(pool.image) {
			t.Errorf("an instance of %d bytes, not %d", len(i.memory), len(pool.image))
		}
	}
	opened.Close()
	if closed := pool.instances(); len(closed) != 0 {
		t.Errorf("%d instances after Close", len(closed))
	}
}

// The instances at rest.
func (p *pool) instances() (all []*instance) {
	for index := range p.slots {
		if i := p.slots[index].instance.Load(); i != nil {
			all = append(all, i)
		}
	}
	return append(all, p.spare...)
}
