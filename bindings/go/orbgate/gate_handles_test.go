package orbgate

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/orbgate/orbgate/bindings/go/orbgate/internal/steps"
)

// A gate whose issuer never answers.
func gateWithoutKeys(t *testing.T) steps.Gate {
	t.Helper()
	made, err := newGate(&steps.Make{Tokens: "orbgate_token: 1\nissuers: [{ issuer: https://id.example.com, audience: a, kind: user }]\n"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(made.Close)
	return made
}

// A reader of a response, and a piece that it reads.
func reader(t *testing.T, of steps.Gate) *steps.Step {
	t.Helper()
	step := new(steps.Step)
	if err := of.Ask(nil, &steps.ReadResponse{McpID: "7"}, step); err != nil || step.Handle == 0 {
		t.Fatal(step.Handle, err)
	}
	return step
}

func reads(of steps.Gate, step *steps.Step) error {
	return of.Ask(nil, &steps.ResponsePiece{Piece: " "}, step)
}

func TestAStepThatIsOverReachesNoOther(t *testing.T) {
	one, other := gateWithoutKeys(t), gateWithoutKeys(t)
	first := reader(t, one)
	stale, elsewhere := *first, *first
	one.Drop(first)
	one.Drop(first)
	second := reader(t, one)
	if err := reads(one, &stale); !errors.Is(err, StatusInvalidArgument) || stale.Handle != 0 {
		t.Error("used when it is over", stale.Handle, err)
	}
	one.Drop(&elsewhere)
	if err := reads(one, second); err != nil || second.Number != steps.KindResponded {
		t.Error("another's was ended", err)
	}
	elsewhere = *second
	if err := reads(other, &elsewhere); !errors.Is(err, StatusInvalidArgument) {
		t.Error("another gate", err)
	}
	if err := reads(one, second); err != nil {
		t.Error("another gate has ended it", err)
	}
	if err := one.Ask(nil, &steps.IsOver{}, second); !errors.Is(err, StatusInvalidArgument) || second.Handle != 0 {
		t.Error("another question", second.Handle, err)
	}
	ledger := new(steps.Step)
	if err := one.Ask(nil, &steps.UseLedger{VoidsCancelled: true}, ledger); err != nil {
		t.Fatal(err)
	}
	if err := one.Ask(nil, &steps.Hold{ID: "short"}, ledger); !errors.Is(err, StatusInvalidArgument) || ledger.Handle == 0 {
		t.Error("a wrong question has ended the holds of others", ledger.Handle, err)
	}
	if err := one.Ask(nil, &steps.NextLedgerCall{}, ledger); err != nil || ledger.Number != steps.KindLedgerCall {
		t.Error(ledger.Number, err)
	}
	left := reader(t, one)
	one.Close()
	if err := reads(one, left); !errors.Is(err, ErrClosed) || left.Handle != 0 {
		t.Error("a closed gate", left.Handle, err)
	}
	one.Drop(ledger)
}

// An answer that is longer than any room.
func TestALongAnswerIsWhole(t *testing.T) {
	made, engine := gateWithoutKeys(t), mustExternal(t)
	question := &steps.CheckRoutes{}
	for at := range 3000 {
		question.Routes = append(question.Routes, steps.ServiceRoute{Method: "GET", PathTemplate: fmt.Sprintf("/no/such/route/%d/of/the/policy", at)})
	}
	for range 3 {
		step := new(steps.Step)
		if err := made.Ask(engine, question, step); err != nil || len(step.RouteDifferences.Differences) < 3000 {
			t.Fatal(len(step.RouteDifferences.Differences), err)
		}
		listed := map[string]bool{}
		for _, one := range step.RouteDifferences.Differences {
			listed[one.Route] = true
		}
		for _, route := range question.Routes {
			if name := route.Method + " " + route.PathTemplate; !listed[name] {
				t.Fatal(name)
			}
		}
	}
}

// Goroutines use each other's handles, and end them at any time: each question has an answer or an error.
func TestHandlesAreSharedSafely(t *testing.T) {
	made := gateWithoutKeys(t)
	var handles [4]atomic.Uint64
	of := reader(t, made).Of
	var all sync.WaitGroup
	var answered atomic.Int64
	for seed := range uint64(4) {
		all.Add(1)
		go func() {
			defer all.Done()
			state := seed
			for range 2000 {
				state = state*6364136223846793005 + 1442695040888963407
				shared := &handles[state>>62]
				step := &steps.Step{Handle: shared.Load(), Of: of}
				switch state >> 58 & 7 {
				case 0, 1:
					made.Drop(step)
				case 2, 3, 4:
					err := reads(made, step)
					if err == nil {
						answered.Add(1)
					} else if !errors.Is(err, StatusInvalidArgument) {
						t.Error(err)
					}
				default:
					step.Handle = 0
					if err := made.Ask(nil, &steps.ReadResponse{McpID: "7"}, step); err != nil {
						t.Error(err)
					}
					step.Handle = shared.Swap(step.Handle)
					made.Drop(step)
				}
			}
		}()
	}
	all.Wait()
	if answered.Load() == 0 {
		t.Error("nothing was answered")
	}
}
