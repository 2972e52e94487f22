package orbgate

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	run   = "/api/v1/external/voxies/prompt/run"
	five  = "orbgate: 1\napis:\n  a:\n    base_path: /five\n    scopes:\n      call:five:\n        orbs: true\n        routes: [{route: POST /run, orbs: 5}]\n"
	empty = "orbgate: 1\napis: {}\n"
)

func mustExternal(t testing.TB) *Engine {
	t.Helper()
	return must(External())(t)
}

func must[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func TestAllThreeSourcesGiveTheSameEngine(t *testing.T) {
	path := filepath.Join("..", "..", "..", "policy", "external.yaml")
	text := must(os.ReadFile(path))(t)
	builtIn := mustExternal(t).Digest()
	if !strings.HasPrefix(builtIn, "sha256:") || len(builtIn) != len("sha256:")+64 {
		t.Fatalf("digest %q", builtIn)
	}
	for name, engine := range map[string]*Engine{
		"text":  must(FromYAML(string(text)))(t),
		"bytes": must(FromYAML(text))(t),
		"file":  must(FromFile(path))(t),
	} {
		if engine.Digest() != builtIn {
			t.Errorf("%s: %s, not %s", name, engine.Digest(), builtIn)
		}
	}
}

// What only Go has; the rows of policy/cases test the rest.
func TestADecisionSaysWhy(t *testing.T) {
	engine := mustExternal(t)
	for _, test := range []struct {
		name     string
		decision Decision
		allow    bool
		reason   Reason
		detail   Detail
		status   int
	}{
		{"a list", engine.Decide("POST", run, TokenOf(KindUser, []string{"a b", "write:voxies"})), true, ReasonScopeHeld, DetailNone, 0},
		{"a space in a list", engine.Decide("POST", run, TokenOf(KindUser, []string{"read:voxies write:voxies"})), false, ReasonScopeMissing, DetailNone, 403},
		{"an empty list", engine.Decide("POST", run, TokenOf(KindUser, nil)), false, ReasonScopeMissing, DetailNone, 403},
		{"a list of no kind", engine.Decide("POST", run, TokenOf(0, []string{"write:voxies"})), false, ReasonInvalidToken, DetailNone, 401},
		{"zero token", engine.Decide("POST", run, Token{Scopes: "write:voxies"}), false, ReasonInvalidToken, DetailNone, 401},
		{"NUL in the method", engine.Decide("POST\x00", run, NoToken()), false, ReasonMalformedRequest, DetailMethod, 400},
		{"no route id", engine.DecideRoute(RouteID{}, UserToken("write:voxies")), false, ReasonNoRoute, DetailNone, 404},
	} {
		got := test.decision
		if got.IsAllow() != test.allow || got.Reason() != test.reason || got.Detail() != test.detail ||
			got.HTTPStatus() != test.status || got.Err() != nil {
			t.Errorf("%s: allow %v, %v, %q, %d, %v", test.name, got.IsAllow(), got.Reason(), got.Detail(), got.HTTPStatus(), got.Err())
		}
	}
}

func TestWhatIsNotThereDenies(t *testing.T) {
	engine := mustExternal(t)
	route := must(engine.FindRoute("POST", run))(t)
	before := engine.Decide("POST", run, UserToken("write:voxies"))
	for range 2 {
		if err := engine.Close(); err != nil {
			t.Fatal(err)
		}
	}
	var none *Engine
	var nobody *Handle
	for name, engine := range map[string]*Engine{"closed": engine, "nil": none, "zero": {}} {
		for _, decision := range []Decision{
			engine.Decide("POST", run, UserToken("write:voxies")),
			engine.DecideRoute(route, UserToken("write:voxies")),
			engine.DecideScope("write:voxies", UserToken("write:voxies")),
			new(Handle).Decide("POST", run, UserToken("write:voxies")),
			NewHandle(engine).Decide("POST", run, UserToken("write:voxies")),
			nobody.Decide("POST", run, UserToken("write:voxies")),
			nobody.DecideRoute(route, UserToken("write:voxies")),
			nobody.DecideScope("write:voxies", UserToken("write:voxies")),
			nobody.Load().Decide("POST", run, UserToken("write:voxies")),
			{},
		} {
			_, err := decision.Words()
			if decision.IsAllow() || decision.HTTPStatus() != 403 || !errors.Is(decision.Err(), ErrClosed) ||
				!errors.Is(err, ErrClosed) || decision.Reason() != ReasonNone {
				t.Errorf("%s: %+v", name, decision)
			}
			if _, stated := decision.Charge(); stated {
				t.Errorf("%s: a charge", name)
			}
		}
		if _, err := engine.ScopeSet("a"); !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := engine.FindRoute("POST", run); !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := engine.Table(); !errors.Is(err, ErrClosed) || engine.Digest() != "" {
			t.Errorf("%s has a table", name)
		}
	}
	if none.Close() != nil {
		t.Error("closing nothing is fine")
	}
	// A decision outlives its engine.
	if words, err := before.Words(); err != nil || words.Scope != "write:voxies" {
		t.Errorf("%+v, %v", words, err)
	}
	engine = must(FromYAML(five))(t)
	paid := engine.Decide("POST", "/five/run", UserToken("call:five"))
	engine.Close()
	if charge, _ := paid.Charge(); charge.Amount != 5 || !charge.AmountStated {
		t.Errorf("%+v", charge)
	}
}

func TestWhatIsNoArgumentDenies(t *testing.T) {
	engine := mustExternal(t)
	token := UserToken("write:voxies")
	for name, decision := range map[string]Decision{
		"kind":   engine.Decide("POST", run, Token{Kind: 7, Scopes: "write:voxies"}),
		"option": engine.Decide("POST", run, token, Option(256)|AllowBonusOrbs),
	} {
		if decision.IsAllow() || !errors.Is(decision.Err(), StatusInvalidArgument) {
			t.Errorf("%s: %v", name, decision.Err())
		}
	}
	for name, add := range map[string]func(*Batch){
		"kind":   func(b *Batch) { b.Add("POST", run, Token{Kind: 7}) },
		"option": func(b *Batch) { b.Add("POST", run, token, Option(256)|AllowBonusOrbs) },
	} {
		var batch Batch
		add(&batch)
		if decisions, err := engine.DecideBatch(nil, &batch); decisions != nil || !errors.Is(err, StatusInvalidArgument) {
			t.Errorf("%s in a batch: %v, %v", name, decisions, err)
		}
	}
}

// Much longer than any request is, and than what is handed over at once.
func TestLongRequests(t *testing.T) {
	engine := mustExternal(t)
	scopes := strings.Repeat("read:nothing ", 30_000) + "write:voxies"
	target := "/" + strings.Repeat("a", 300_000)
	token := UserToken(scopes)
	if decision := engine.Decide("POST", run, token); !decision.IsAllow() {
		t.Error(decision)
	}
	if decision := engine.Decide("POST", target, token); decision.Detail() != DetailLength {
		t.Error(decision)
	}
	if decision := engine.Decide(target, run, token); decision.Detail() != DetailMethod {
		t.Error(decision)
	}
	if decision := engine.DecideScope(target, token); decision.Reason() != ReasonNoRoute {
		t.Error(decision)
	}
	if decision := engine.DecideScope("write:voxies", token); !decision.IsAllow() {
		t.Error(decision)
	}
	if decision := engine.DecideRoute(must(engine.FindRoute("POST", run))(t), token); !decision.IsAllow() {
		t.Error(decision)
	}
	if _, err := engine.FindRoute("POST", target); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if kind := TokenKindOf(target); kind != KindUnknown {
		t.Error(kind)
	}
	set := Token{Kind: KindUser, ScopeSet: must(engine.ScopeSet(scopes))(t)}
	var batch Batch
	var want []Decision
	for row := range 600 {
		arguments := [][]any{{run, token}, {target, token}, {run, UserToken("write:voxies")}, {run, set}}[row%7%4]
		batch.Add("POST", arguments[0].(string), arguments[1].(Token))
		want = append(want, engine.Decide("POST", arguments[0].(string), arguments[1].(Token)))
	}
	if got := must(engine.DecideBatch(nil, &batch))(t); !slices.Equal(got, want) {
		t.Error("a batch of long rows")
	}
}

// The library says what is wrong with a policy that is nested deeply, cut short or too large; it does not break.
func TestPoliciesThatAreTooMuch(t *testing.T) {
	for name, text := range map[string]string{
		"lists":     strings.Repeat("[", 100_000),
		"mappings":  strings.Repeat("{a: ", 100_000),
		"lines":     strings.Repeat("- ", 100_000),
		"too large": "orbgate: 1\napis: {}\n" + strings.Repeat("# comment\n", 1<<20),
		"empty":     "",
	} {
		if _, err := FromYAML(text); !errors.Is(err, ErrInvalidPolicy) {
			t.Errorf("%s: %v", name, err)
		}
	}
	path := filepath.Join(t.TempDir(), "large.yaml")
	large := "orbgate: 1\napis: {}\n" + strings.Repeat("#", 8<<20)
	if err := os.WriteFile(path, []byte(large), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := FromFile(path); !errors.Is(err, ErrInvalidPolicy) || !strings.HasPrefix(err.Error(), path+":") {
		t.Error(err)
	}
}

func TestScopeSets(t *testing.T) {
	engine := mustExternal(t)
	other := must(FromYAML(empty))(t)
	for name, test := range map[string]struct {
		set   *ScopeSet
		allow bool
	}{
		"text":           {must(engine.ScopeSet("read:orbs write:voxies"))(t), true},
		"list":           {must(engine.ScopeSetOf("", strings.Clone("read:orbs"), strings.Clone("write:voxies")))(t), true},
		"one with space": {must(engine.ScopeSetOf("read:orbs write:voxies"))(t), false},
		"none":           {must(engine.ScopeSetOf())(t), false},
		"other policy":   {must(other.ScopeSet("write:voxies"))(t), false},
		"zero":           {new(ScopeSet), false},
	} {
		// With a set, the text of the scopes is not looked at.
		decision := engine.Decide("POST", run, Token{Kind: KindUser, Scopes: "write:voxies", ScopeSet: test.set})
		if decision.IsAllow() != test.allow || decision.Err() != nil {
			t.Errorf("%s: %v, %v", name, decision.Reason(), decision.Err())
		}
	}
}

// However many scopes a policy has.
func TestScopeSetsOfManyScopes(t *testing.T) {
	for _, count := range []int{127, 128, 129, 400} {
		var policy strings.Builder
		policy.WriteString("orbgate: 1\napis:\n  a:\n    base_path: /a\n    scopes:\n")
		for scope := range count {
			fmt.Fprintf(&policy, "      s%d:\n        orbs: false\n        routes: [GET /r%d]\n", scope, scope)
		}
		engine, same, other := must(FromYAML(policy.String()))(t), must(FromYAML(policy.String()))(t), mustExternal(t)
		var batch Batch
		var want []Decision
		for scope := range count {
			name, target := fmt.Sprintf("s%d", scope), fmt.Sprintf("/a/r%d", scope)
			for set, allow := range map[*ScopeSet]bool{
				must(engine.ScopeSet("s0x " + name))(t):   true,
				must(same.ScopeSetOf("none", name))(t):    true,
				must(engine.ScopeSetOf("s0x " + name))(t): false,
				must(other.ScopeSetOf(name))(t):           false,
				must(other.ScopeSet("read:orbs"))(t):      false,
				new(ScopeSet):                             false,
			} {
				token := Token{Kind: KindUser, Scopes: name, ScopeSet: set}
				decision := engine.Decide("GET", target, token)
				if decision.IsAllow() != allow || decision.Err() != nil {
					t.Errorf("%d scopes, %s: %v", count, name, decision)
				}
				batch.Add("GET", target, token)
				want = append(want, decision)
			}
		}
		if got := must(engine.DecideBatch(nil, &batch))(t); !slices.Equal(got, want) {
			t.Errorf("%d scopes: the batch", count)
		}
		// Sets of a policy with many scopes are no sets of one with few.
		set := must(engine.ScopeSet("s1"))(t)
		if decision := other.Decide("POST", run, Token{Kind: KindUser, ScopeSet: set}); decision.Reason() != ReasonScopeMissing {
			t.Error(decision)
		}
	}
}

func TestRoutes(t *testing.T) {
	engine := mustExternal(t)
	route := must(engine.FindRoute("POST", "/api/v1/external/voxies/{voxieId}/run"))(t)
	byRoute := engine.DecideRoute(route, UserToken("write:voxies"), AllowBonusOrbs)
	byTarget := engine.Decide("POST", "/api/v1/external/voxies/7/run", UserToken("write:voxies"), AllowBonusOrbs)
	if byRoute != byTarget || !byRoute.IsAllow() || byRoute.RouteNumber() == 0 || byRoute.ScopeNumber() == 0 {
		t.Errorf("%+v, %+v", byRoute, byTarget)
	}
	none, err := engine.FindRoute("POST", "/api/v1/external/voxies/7/run")
	if !errors.Is(err, StatusNotFound) || none != (RouteID{}) {
		t.Error(none, err)
	}
	if decision := engine.DecideRoute(none, UserToken("write:voxies")); decision.IsAllow() {
		t.Error(decision)
	}
	if other := must(FromYAML(five))(t).DecideRoute(route, UserToken("write:voxies call:five")); other.Reason() != ReasonNoRoute {
		t.Error(other.Reason())
	}
}

func TestADenialDeclaresTheMethodsOfItsPath(t *testing.T) {
	engine := mustExternal(t)
	denied := engine.Decide("PUT", "/api/v1/external/voxies/7", UserToken("write:voxies"))
	var batch Batch
	batch.Add("PUT", "/api/v1/external/voxies/7", UserToken("write:voxies"))
	batched := must(engine.DecideBatch(nil, &batch))(t)[0]
	engine.Close()
	for _, decision := range []Decision{denied, batched} {
		if methods := decision.DeclaredMethods(); !slices.Equal(methods, []string{"DELETE", "GET", "PATCH"}) {
			t.Error(methods)
		}
		clear(decision.DeclaredMethods()) // which changes nothing
	}
	other := mustExternal(t)
	for _, decision := range []Decision{
		other.Decide("GET", "/api/v1/external/voxies/7", UserToken("read:voxies")),
		other.Decide("GET", "/api/v1/external/voxies/7", UserToken("")),
		other.Decide("GET", "/nowhere", UserToken("")),
		{},
	} {
		if methods := decision.DeclaredMethods(); methods != nil {
			t.Errorf("%v: %v", decision, methods)
		}
	}
}

func TestJSON(t *testing.T) {
	engine := must(FromYAML(five))(t)
	policy := `"policy":"` + engine.Digest() + `"}`
	for _, test := range []struct {
		decision Decision
		want     string
	}{
		{
			engine.Decide("POST", "/five/run", UserToken("call:five")),
			`{"decision":"allow","status":null,"reason":"scope_held","detail":null,"api":"a","route":"POST /five/run","scope":"call:five","orbs":{"consumes":true,"amount":5,"bonus_allowed":false},` + policy,
		},
		{
			engine.Decide("POST", "//", NoToken()),
			`{"decision":"deny","status":400,"reason":"malformed_request","detail":"empty_segment","api":null,"route":null,"scope":null,"orbs":null,` + policy,
		},
	} {
		if got := string(must(json.Marshal(test.decision))(t)); got != test.want {
			t.Errorf("%s\nnot\n%s", got, test.want)
		}
	}
	ampersand := must(FromYAML(strings.NewReplacer("POST /run", "'POST /r&d'").Replace(five)))(t)
	allowed := ampersand.Decide("POST", "/five/r&d", UserToken("call:five"))
	if got := string(must(allowed.MarshalJSON())(t)); !strings.Contains(got, `"route":"POST /five/r&d"`) || strings.HasSuffix(got, "\n") {
		t.Error(got)
	}
	if got := allowed.String(); got != "allow: scope_held, POST /five/r&d, call:five" {
		t.Error(got)
	}
	if _, err := json.Marshal(Decision{}); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if table := must(engine.Table())(t); table.Policy != engine.Digest() {
		t.Errorf("%+v", table)
	}
}

func TestErrorsNameTheLocation(t *testing.T) {
	_, err := FromYAML("orbgate: 1\ncolour: red\nname: no\napis: {}\n")
	var failure *Error
	if !errors.As(err, &failure) || !errors.Is(err, StatusInvalidPolicy) || errors.Is(err, StatusIO) {
		t.Fatalf("%#v", err)
	}
	if failure.Line != 2 || failure.Column != 1 || len(failure.Diagnostics) != 2 || failure.Path != "" {
		t.Errorf("%+v", failure)
	}
	if last := failure.Diagnostics[1]; last.Line != 3 || last.Column != 7 || last.Message == "" {
		t.Errorf("%+v", last)
	}
	if !strings.HasPrefix(failure.Error(), "2:1: ") {
		t.Error(failure)
	}

	bad := filepath.Join(t.TempDir(), "bad.yaml")
	if err := os.WriteFile(bad, []byte("orbgate: 2\napis: {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := FromFile(bad); !errors.As(err, &failure) || failure.Path != bad || !strings.HasPrefix(err.Error(), bad+":1:10: ") {
		t.Errorf("%v", err)
	}
	none := filepath.Join(t.TempDir(), "none.yaml")
	if _, err := FromFile(none); !errors.Is(err, ErrIO) || !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &failure) || failure.Line != 0 {
		t.Errorf("%#v", err)
	}
	if _, err := FromFile(t.TempDir()); !errors.Is(err, ErrIO) || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%#v", err)
	}
	// Nobody writes to this pipe.
	pipe := filepath.Join(t.TempDir(), "pipe.yaml")
	if err := exec.Command("mkfifo", pipe).Run(); err != nil {
		t.Fatal(err)
	}
	if _, err := FromFile(pipe); !errors.Is(err, ErrIO) || !strings.HasSuffix(err.Error(), "regular file") {
		t.Errorf("%#v", err)
	}
	if _, err := FromYAML([]byte("orbgate: 1\napis: {}\nname: \xff\n")); !errors.Is(err, ErrInvalidPolicy) || errors.Is(err, ErrIO) {
		t.Errorf("%#v", err)
	}
	if StatusPanic.Error() != "orbgate: panic" {
		t.Error(StatusPanic)
	}
}

func TestAnEngineKnowsWhetherItsTextHadAnEnd(t *testing.T) {
	marked := must(FromYAML(empty + "...\n"))(t)
	if unmarked := must(FromYAML(empty))(t); unmarked.HasEndMarker() || !marked.HasEndMarker() || !mustExternal(t).HasEndMarker() {
		t.Error("the end marker")
	}
	if (*Engine)(nil).HasEndMarker() || (*Engine)(nil).IsSealed() {
		t.Error("no policy has no end")
	}
	seal := fmt.Sprintf("... # sha256:%x\n", sha256.Sum256([]byte(empty)))
	if marked.IsSealed() || !must(FromYAML(empty+seal))(t).IsSealed() || !mustExternal(t).IsSealed() {
		t.Error("the seal")
	}
	if _, err := FromYAML("# \n" + empty + seal); err == nil {
		t.Error("a wrong seal")
	}
}

// A library of another ABI is refused, and both are named.
func TestAnotherABIIsRefused(t *testing.T) {
	const major, minor = abiVersion >> 16, abiVersion & 0xffff
	for abi, fits := range map[uint32]bool{
		abiVersion: true, abiVersion + 1: true, abiVersion - 1: false, (major + 1) << 16: false, (major-1)<<16 + minor + 1: false,
	} {
		err := (&names{version: "7.0.0", abi: abi}).fits()
		if fits != (err == nil) {
			t.Errorf("%x: %v", abi, err)
		}
		for _, number := range []string{"7.0.0", fmt.Sprintf(" %d.%d", abi>>16, abi&0xffff), fmt.Sprintf(" %d.%d", major, minor)} {
			if err != nil && !strings.Contains(err.Error(), number) {
				t.Errorf("%x: %s: %v", abi, number, err)
			}
		}
	}
}

func TestCodesHaveNames(t *testing.T) {
	for number := range 256 {
		reason, detail := Reason(number), Detail(number)
		if (reason.String() == "") != (reason.Explanation() == "") || (detail.String() == "") != (detail.Explanation() == "") {
			t.Errorf("a name or a sentence alone: %d", number)
		}
	}
	if ReasonScopeHeld.String() != "scope_held" || DetailMethod.String() != "method" {
		t.Error("names")
	}
	if ReasonNone.String() != "" || DetailNone.String() != "" || Reason(255).String() != "" || Detail(255).String() != "" {
		t.Error("a number that is none has no name")
	}
	if TokenKindOf("user") != KindUser || TokenKindOf("organisation") != KindOrganisation || TokenKindOf("User") != KindUnknown {
		t.Error("token kinds")
	}
	if Version() == "" {
		t.Error("no version")
	}
}
