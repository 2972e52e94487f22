// Command issuer runs an issuer on this machine, for trying a service. Never use it in production.
//
//	go run github.com/orbgate/orbgate/bindings/go/orbgate/gate/gatetest/issuer 9000
package main

import (
	"fmt"
	"log"
	"os"

	"github.com/orbgate/orbgate/bindings/go/orbgate/gate/gatetest"
)

func main() {
	port := 9000
	if len(os.Args) > 1 {
		if _, err := fmt.Sscan(os.Args[1], &port); err != nil {
			log.Fatalf("issuer [PORT]: %v", err)
		}
	}
	issuer, err := gatetest.Start(port)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("FOR TESTS ONLY, never in production: %s/token?scope=… gives everybody a token; %[1]s/tokens.yaml trusts it", issuer.URL)
	select {}
}
