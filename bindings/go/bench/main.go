// Bench measures what a decision takes from Go: see `cargo xtask bench --bindings`.
//
//	bench FILE FOLDER    answers the requests of the file, METHOD TAB TARGET TAB SCOPES, all of which must be allowed, and
//	                     the questions of the folder; prints the nanoseconds of a call, of a decision in batches of 256, of
//	                     the same with filling the batch, of the cheapest call there is, and of `explain` and `reach`
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/orbgate/orbgate/bindings/go/orbgate"
)

const (
	rounds  = 25
	size    = 256
	repeats = 100
)

type request struct {
	method, target string
	token          orbgate.Token
}

func main() {
	if len(os.Args) != 3 {
		stop("usage: bench FILE FOLDER")
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
	folder := os.Args[2]
	wide, err := orbgate.FromFile(filepath.Join(folder, "policy.yaml"))
	must(err)
	ask(wide, folder, "explain", wide.Explain)
	ask(wide, folder, "reach", wide.Reach)
}

// Asks a question with types, and as JSON, and compares each answer.
func ask[Arguments, Answer any](engine *orbgate.Engine, folder, question string, typed func(Arguments) (*Answer, error)) {
	given, err := os.ReadFile(filepath.Join(folder, question+".json"))
	must(err)
	expected, err := os.ReadFile(filepath.Join(folder, question+".answer.json"))
	must(err)
	var arguments Arguments
	must(json.Unmarshal(given, &arguments))
	first, err := typed(arguments)
	must(err)
	best, bestOfJSON := time.Duration(1<<63-1), time.Duration(1<<63-1)
	for range repeats {
		start := time.Now()
		answer, err := typed(arguments)
		best = min(best, time.Since(start))
		must(err)
		start = time.Now()
		text, err := engine.Ask(question, string(given))
		bestOfJSON = min(bestOfJSON, time.Since(start))
		must(err)
		if text != string(expected) || !reflect.DeepEqual(answer, first) {
			stop(question + ": another answer")
		}
	}
	var untyped, read any
	written, err := json.Marshal(first)
	must(err)
	must(json.Unmarshal(written, &untyped))
	must(json.Unmarshal(expected, &read))
	if !reflect.DeepEqual(untyped, read) {
		stop(question + ": another answer")
	}
	fmt.Printf("%s %d\n%s-json %d\n", question, best.Nanoseconds(), question, bestOfJSON.Nanoseconds())
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
