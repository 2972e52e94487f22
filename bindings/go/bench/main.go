// Bench measures what a decision takes from Go: see `cargo xtask bench --bindings`.
//
//	bench FILE    answers the requests of the file, METHOD TAB TARGET TAB SCOPES, all of which must be allowed; prints the
//	              nanoseconds of a call, of a decision in batches of 256, of the same with filling the batch, and of the
//	              cheapest call there is
package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/orbgate/orbgate/bindings/go/orbgate"
)

const (
	rounds = 25
	size   = 256
)

type request struct {
	method, target string
	token          orbgate.Token
}

func main() {
	if len(os.Args) != 2 {
		stop("usage: bench FILE")
	}
	text, err := os.ReadFile(os.Args[1])
	must(err)
	engine, err := orbgate.External()
	must(err)
	requests := read(engine, string(text))
	batches := fill(requests)
	decisions := make([]orbgate.Decision, 0, size)
	batch := new(orbgate.Batch)

	measure("single", len(requests), func() (allowed int) {
		for _, one := range requests {
			allowed += count(engine.Decide(one.method, one.target, one.token))
		}
		return allowed
	})
	decide := func(batch *orbgate.Batch) int {
		decided, err := engine.DecideBatch(decisions[:0], batch)
		must(err)
		return count(decided...)
	}
	measure("batch", len(requests), func() (allowed int) {
		for _, batch := range batches {
			allowed += decide(batch)
		}
		return allowed
	})
	measure("filled", len(requests), func() (allowed int) {
		for first := 0; first < len(requests); first += size {
			add(batch, requests[first:min(first+size, len(requests))])
			allowed += decide(batch)
		}
		return allowed
	})
	measure("empty", len(requests), func() (right int) {
		for range requests {
			if orbgate.TokenKindOf("user") == orbgate.KindUser {
				right++
			}
		}
		return right
	})
}

func read(engine *orbgate.Engine, text string) (requests []request) {
	tokens := map[string]orbgate.Token{}
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(cells) != 3 {
			stop("a line has not three cells")
		}
		token, known := tokens[cells[2]]
		if !known {
			set, err := engine.ScopeSet(cells[2])
			must(err)
			token = orbgate.Token{Kind: orbgate.KindUser, ScopeSet: set}
			tokens[cells[2]] = token
		}
		requests = append(requests, request{cells[0], cells[1], token})
	}
	return requests
}

func fill(requests []request) (batches []*orbgate.Batch) {
	for first := 0; first < len(requests); first += size {
		batch := new(orbgate.Batch)
		add(batch, requests[first:min(first+size, len(requests))])
		batches = append(batches, batch)
	}
	return batches
}

func add(batch *orbgate.Batch, requests []request) {
	batch.Reset()
	for _, one := range requests {
		batch.Add(one.method, one.target, one.token)
	}
}

func count(decisions ...orbgate.Decision) (allowed int) {
	for _, decision := range decisions {
		if decision.IsAllow() {
			allowed++
		}
	}
	return allowed
}

// The least of some rounds: noise only adds.
func measure(name string, count int, pass func() int) {
	best := time.Duration(1<<63 - 1)
	for range rounds {
		start := time.Now()
		right := pass()
		best = min(best, time.Since(start))
		if right != count {
			stop("a request was not allowed")
		}
	}
	fmt.Printf("%s %.2f\n", name, float64(best.Nanoseconds())/float64(count))
}

func must(err error) {
	if err != nil {
		stop(err.Error())
	}
}

func stop(why string) {
	fmt.Fprintln(os.Stderr, "bench:", why)
	os.Exit(1)
}
