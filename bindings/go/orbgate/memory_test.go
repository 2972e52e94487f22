//go:build linux && !race

package orbgate

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"
)

// A policy is at least some tens of KiB: 10,000 of them would be 100 times what may grow.
const mostGrown = 6 << 20

func manyRoutes() string {
	var policy strings.Builder
	policy.WriteString("orbgate: 1\napis:\n  a:\n    base_path: /a\n    scopes:\n      s:\n        orbs: false\n        routes:\n")
	for route := range 100 {
		fmt.Fprintf(&policy, "          - GET /route-%d/{id}\n", route)
	}
	return policy.String()
}

func TestTenThousandReloadsWithCloseAreFlat(t *testing.T) {
	text := manyRoutes()
	flat(t, 10_000, func() {
		engine := must(FromYAML(text))(t)
		set := must(engine.ScopeSet("s"))(t)
		if !engine.Decide("GET", "/a/route-7/1", Token{Kind: KindUser, ScopeSet: set}).IsAllow() {
			t.Fatal("denied")
		}
		engine.Close()
	})
}

// The handle frees what it held, though others decide meanwhile and take engines out of it.
func TestTenThousandReloadsOfAHandleAreFlat(t *testing.T) {
	text := manyRoutes()
	handle := NewHandle(must(FromYAML(text))(t))
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Add(1)
		go func() {
			defer readers.Done()
			for {
				select {
				case <-done:
					return
				default:
				}
				engine := handle.Load()
				decisions := []Decision{
					handle.Decide("GET", "/a/route-7/1", UserToken("s")),
					engine.Decide("GET", "/a/route-8/1", UserToken("s")),
				}
				engine.Close()
				for _, decision := range decisions {
					if !decision.IsAllow() || decision.Scope() != "s" {
						t.Error(decision)
						return
					}
				}
				time.Sleep(50 * time.Microsecond)
			}
		}()
	}
	flat(t, 10_000, func() {
		engine := must(FromYAML(text))(t)
		handle.Store(engine)
		engine.Close()
	})
	close(done)
	readers.Wait()
}

// The collector frees what was not closed.
func TestWhatNobodyClosesIsCollected(t *testing.T) {
	text := manyRoutes()
	number := 0
	flat(t, 500, func() {
		engine := must(FromYAML(text))(t)
		must(engine.ScopeSet("s"))(t)
		NewHandle(engine).Load()
		if number++; number%10 == 9 {
			runtime.GC()
			time.Sleep(time.Millisecond) // cleanups run in another goroutine
		}
	})
}

// Memory does not grow after the first tenth. What leaks grows in each third of the rest; an instance or a stack that is there once more
// grows in one.
func flat(t *testing.T, times int, load func()) {
	t.Helper()
	for range times / 10 {
		load()
	}
	least := math.MaxInt
	for range 3 {
		before := resident(t)
		for range times * 3 / 10 {
			load()
		}
		least = min(least, resident(t)-before)
	}
	grown := 3 * least
	t.Logf("grown by %d KiB", grown>>10)
	if grown > mostGrown {
		t.Errorf("grown by %d KiB in %d loads", grown>>10, times)
	}
}

// The memory of the process, without what is garbage already.
func resident(t *testing.T) int {
	debug.FreeOSMemory()
	var size, pages int
	if _, err := fmt.Sscan(string(must(os.ReadFile("/proc/self/statm"))(t)), &size, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}
