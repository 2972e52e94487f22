package orbgate

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
)

// More rows than a crossing takes, of every sort, so that crossings begin and end at every sort of row.
func mixed(t testing.TB, engine *Engine, rows int) (*Batch, []Decision) {
	set := must(engine.ScopeSet("write:voxies"))(t)
	tokens := []Token{
		UserToken("write:voxies"), UserToken("read:orbs read:account"), NoToken(), {}, OrganisationToken("write:voxies"),
		{Kind: KindUser, ScopeSet: set}, {Kind: KindUser, Scopes: "write:voxies", ScopeSet: new(ScopeSet)},
	}
	targets := []string{run, "/api/v1/external/account", "//", "", "/api/v1/external/voxies/7/run"}
	batch := new(Batch)
	var singles []Decision
	for row := range rows {
		method, target, token := []string{"POST", "GET", "G\x00"}[row%3], targets[row/3%len(targets)], tokens[row/19%len(tokens)]
		var options []Option
		if row%2 == 0 {
			options = []Option{AllowBonusOrbs}
		}
		batch.Add(method, target, token, options...)
		singles = append(singles, engine.Decide(method, target, token, options...))
	}
	return batch, singles
}

func TestABatchIsItsRows(t *testing.T) {
	engine := mustExternal(t)
	for _, rows := range []int{0, 1, chunk - 1, chunk, chunk + 1, 5*chunk + 3} {
		batch, singles := mixed(t, engine, rows)
		decisions, err := engine.DecideBatch(nil, batch)
		if err != nil || batch.Len() != rows || !slices.Equal(decisions, singles) {
			t.Errorf("%d rows: %v", rows, err)
		}
	}
}

func TestABatchIsUsedAgain(t *testing.T) {
	engine := mustExternal(t)
	batch, _ := mixed(t, engine, 40)
	batch.Reset()
	if decisions, err := engine.DecideBatch(nil, batch); err != nil || len(decisions) != 0 {
		t.Error(decisions, err)
	}
	batch.Add("POST", run, UserToken("write:voxies"))
	first := engine.Decide("GET", run, NoToken())
	decisions, err := engine.DecideBatch([]Decision{first}, batch)
	want := []Decision{first, engine.Decide("POST", run, UserToken("write:voxies"))}
	if err != nil || !slices.Equal(decisions, want) {
		t.Error(decisions, err)
	}
}

// A zero set among others holds nothing, and takes nothing from them.
func TestABatchWithASetOfNothing(t *testing.T) {
	engine := mustExternal(t)
	held := Token{Kind: KindUser, ScopeSet: must(engine.ScopeSet("write:voxies"))(t)}
	nothing := Token{Kind: KindUser, ScopeSet: new(ScopeSet)}
	for _, tokens := range [][]Token{{nothing, held}, {held, nothing}} {
		var batch Batch
		for _, token := range tokens {
			batch.Add("POST", run, token)
		}
		for row, decision := range must(engine.DecideBatch(nil, &batch))(t) {
			if want := engine.Decide("POST", run, tokens[row]); decision != want {
				t.Errorf("%v, not %v", decision, want)
			}
		}
	}
}

func TestABatchThatCannotBeDecided(t *testing.T) {
	engine := mustExternal(t)
	batch, _ := mixed(t, engine, 3)
	if decisions, err := new(Engine).DecideBatch(nil, batch); decisions != nil || !errors.Is(err, ErrClosed) {
		t.Error(decisions, err)
	}
	var none *Batch
	if decisions, err := engine.DecideBatch(nil, none); none.Len() != 0 || decisions != nil || !errors.Is(err, StatusInvalidArgument) {
		t.Error(decisions, err)
	}
	limit := columnLimit
	defer func() { columnLimit = limit }()
	columnLimit = 10
	var small Batch
	small.Add("GET", "/123456789", NoToken())
	if _, err := engine.DecideBatch(nil, &small); err != nil {
		t.Error(err)
	}
	small.Add("GET", "/", NoToken())
	if _, err := engine.DecideBatch(nil, &small); small.Len() != 1 || !errors.Is(err, StatusInvalidArgument) {
		t.Error(small.Len(), err)
	}
	small.Reset()
	if _, err := engine.DecideBatch(nil, &small); err != nil {
		t.Error(err)
	}
}

// One goroutine swaps two policies while others decide; every answer is of one of the two.
func TestReloadWhileOthersDecide(t *testing.T) {
	texts := [2]string{five, five + "name: other\n"}
	engines := [2]*Engine{must(FromYAML(texts[0]))(t), must(FromYAML(texts[1]))(t)}
	known := map[string]bool{engines[0].Digest(): true, engines[1].Digest(): true}
	handle := NewHandle(engines[0])
	done := make(chan struct{})
	errs := make(chan error, 8)
	var readers sync.WaitGroup
	for range 8 {
		readers.Add(1)
		go func() {
			defer readers.Done()
			for {
				select {
				case <-done:
					return
				default:
				}
				decision := handle.Decide("POST", "/five/run", UserToken("call:five"))
				words, err := decision.Words()
				if err != nil || !decision.IsAllow() || !known[words.Policy] {
					errs <- fmt.Errorf("%+v, %v", words, err)
					return
				}
			}
		}()
	}
	for reload := range 1000 {
		engine := must(FromYAML(texts[reload%2]))(t)
		handle.Store(engine)
	}
	close(done)
	readers.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
}

// An engine that is closed under its readers answers as before or denies.
func TestCloseWhileOthersDecide(t *testing.T) {
	for range 50 {
		engine := must(FromYAML(five))(t)
		var readers sync.WaitGroup
		for range 4 {
			readers.Add(1)
			go func() {
				defer readers.Done()
				for {
					decision := engine.Decide("POST", "/five/run", UserToken("call:five"))
					if !decision.IsAllow() {
						if !errors.Is(decision.Err(), ErrClosed) {
							t.Error(decision.Reason())
						}
						return
					}
				}
			}()
		}
		engine.Close()
		readers.Wait()
	}
}
