//go:build linux && !race

package orbgate

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// What nobody holds any more is given back: memory stops growing, with Close and without.
func TestPoliciesAreGivenBack(t *testing.T) {
	var policy strings.Builder
	policy.WriteString("orbgate: 1\napis:\n  a:\n    base_path: /a\n    scopes:\n      s:\n        orbs: false\n        routes:\n")
	for route := range 500 {
		fmt.Fprintf(&policy, "          - GET /route-%d/{id}\n", route)
	}
	text := policy.String()
	load := func(times int) {
		for number := range times {
			engine := must(FromYAML(text))(t)
			set := must(engine.ScopeSet("s"))(t)
			if !engine.Decide("GET", "/a/route-7/1", Token{Kind: KindUser, ScopeSet: set}).IsAllow() {
				t.Fatal("denied")
			}
			if number%2 == 0 {
				engine.Close()
			}
			if number%10 == 9 {
				runtime.GC()
				time.Sleep(time.Millisecond) // cleanups run beside us
			}
		}
	}
	load(50)
	before := resident(t)
	load(150)
	grown := resident(t) - before
	t.Logf("grown by %d KiB", grown>>10)
	if grown > 6<<20 {
		t.Errorf("grown by %d KiB in 150 loads", grown>>10)
	}
}

func resident(t *testing.T) int {
	var size, pages int
	if _, err := fmt.Sscan(string(must(os.ReadFile("/proc/self/statm"))(t)), &size, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}
