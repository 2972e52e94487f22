package orbgate

import "testing"

// What a crossing into the library costs alone: the smallest function that every call crosses for.
func BenchmarkEmptyCall(b *testing.B) {
	for b.Loop() {
		if TokenKindOf("user") != KindUser {
			b.Fatal("no kind")
		}
	}
}

func BenchmarkDecide(b *testing.B) {
	engine := mustExternal(b)
	token := UserToken("read:voxies write:voxies")
	decides(b, func() Decision { return engine.Decide("POST", run, token) })
}

func BenchmarkDecideInterned(b *testing.B) {
	engine := mustExternal(b)
	token := Token{Kind: KindUser, ScopeSet: must(engine.ScopeSet("read:voxies write:voxies"))(b)}
	decides(b, func() Decision { return engine.Decide("POST", run, token) })
}

func BenchmarkDecideRoute(b *testing.B) {
	engine := mustExternal(b)
	token := Token{Kind: KindUser, ScopeSet: must(engine.ScopeSet("read:voxies write:voxies"))(b)}
	route := must(engine.FindRoute("POST", run))(b)
	decides(b, func() Decision { return engine.DecideRoute(route, token) })
}

func decides(b *testing.B, decide func() Decision) {
	b.ReportAllocs()
	for b.Loop() {
		if !decide().IsAllow() {
			b.Fatal("denied")
		}
	}
}

const rows = 256

// Per decision, the batch being there.
func BenchmarkBatch256(b *testing.B) {
	batches(b, func(*Batch, Token) {}, UserToken("read:voxies write:voxies"))
}

// Per decision, with the scopes interned.
func BenchmarkBatch256Interned(b *testing.B) {
	set := must(mustExternal(b).ScopeSet("read:voxies write:voxies"))(b)
	batches(b, func(*Batch, Token) {}, Token{Kind: KindUser, ScopeSet: set})
}

// Per decision, filling the batch included.
func BenchmarkBatch256Filled(b *testing.B) {
	batches(b, fill, UserToken("read:voxies write:voxies"))
}

func fill(batch *Batch, token Token) {
	batch.Reset()
	for range rows {
		batch.Add("POST", run, token)
	}
}

func batches(b *testing.B, before func(*Batch, Token), token Token) {
	engine := mustExternal(b)
	batch := new(Batch)
	fill(batch, token)
	decisions := make([]Decision, 0, rows)
	b.ReportAllocs()
	for b.Loop() {
		before(batch, token)
		decided, err := engine.DecideBatch(decisions[:0], batch)
		if err != nil || len(decided) != rows || !decided[0].IsAllow() || !decided[rows-1].IsAllow() {
			b.Fatal("denied")
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/decision")
}
