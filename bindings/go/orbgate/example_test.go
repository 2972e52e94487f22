package orbgate_test

import (
	"errors"
	"fmt"

	"github.com/orbgate/orbgate/bindings/go/orbgate"
)

func Example() {
	engine, err := orbgate.External()
	if err != nil {
		fmt.Println(err)
		return
	}
	token := orbgate.UserToken("read:voxies write:voxies")
	decision := engine.Decide("POST", "/api/v1/external/voxies/prompt/run", token)
	if !decision.IsAllow() {
		fmt.Println(decision.HTTPStatus()) // and an empty body
		return
	}
	charge, _ := decision.Charge()
	fmt.Println(decision.Reason(), charge.Consumes)
	// Output: scope_held true
}

func ExampleEngine_DecideBatch() {
	engine, err := orbgate.External()
	if err != nil {
		fmt.Println(err)
		return
	}
	token := orbgate.OrganisationToken("read:orbs")
	var batch orbgate.Batch
	batch.Add("GET", "/api/v1/external/orbs", token)
	batch.Add("GET", "/api/v1/external/account", token)
	decisions, err := engine.DecideBatch(nil, &batch)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, decision := range decisions {
		fmt.Println(decision.IsAllow(), decision.Reason())
	}
	// Output:
	// true scope_held
	// false scope_missing
}

func ExampleEngine_DecideRoute() {
	engine, err := orbgate.External()
	if err != nil {
		fmt.Println(err)
		return
	}
	// At the start, where the router is filled.
	route, err := engine.FindRoute("GET", "/api/v1/external/voxies/{voxieId}")
	if err != nil {
		fmt.Println(err)
		return
	}
	// When the token has been verified.
	scopes, err := engine.ScopeSet("read:voxies")
	if err != nil {
		fmt.Println(err)
		return
	}
	// For each request that the router has matched.
	fmt.Println(engine.DecideRoute(route, orbgate.Token{Kind: orbgate.KindUser, ScopeSet: scopes}).IsAllow())
	// Output: true
}

func ExampleFromYAML_diagnostics() {
	_, err := orbgate.FromYAML("orbgate: 1\napis: {}\nname: [a]\n")
	var failure *orbgate.Error
	if errors.As(err, &failure) {
		for _, diagnostic := range failure.Diagnostics {
			fmt.Printf("policy.yaml:%d:%d: %s\n", diagnostic.Line, diagnostic.Column, diagnostic.Message)
		}
	}
	// Output: policy.yaml:3:7: `name` must be a string, not a list
}

func ExampleHandle() {
	engine, err := orbgate.FromYAML("orbgate: 1\napis: {}\n")
	if err != nil {
		fmt.Println(err)
		return
	}
	handle := orbgate.NewHandle(engine)
	token := orbgate.UserToken("read:orbs")
	fmt.Println(handle.Decide("GET", "/api/v1/external/orbs", token).Reason())

	if engine, err = orbgate.External(); err != nil {
		fmt.Println(err)
		return
	}
	handle.Store(engine) // others may be deciding meanwhile
	fmt.Println(handle.Decide("GET", "/api/v1/external/orbs", token).Reason())
	// Output:
	// no_route
	// scope_held
}
