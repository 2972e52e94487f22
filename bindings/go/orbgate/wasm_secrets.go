//go:build !orbgate_cgo

package orbgate

import (
	"fmt"
	"os"
	"strings"
)

// What wasmGate has of opaque tokens: the secrets of the clients that ask about them, which the module can't read.

type wasmSecret struct {
	Size, Kind uint32
	Name       wasmText
}

// Where a secret of a client that asks about opaque tokens is.
type secretSource struct {
	kind uint32
	name string
}

func (i *instance) sources(verifier uint64) (sources []secretSource) {
	var source wasmSecret
	for i.describe("orbgate_verifier_secret", &source, verifier, uint64(len(sources))) == statusOK {
		sources = append(sources, secretSource{source.Kind, i.text(source.Name)})
	}
	return sources
}

// Reads the secrets. The error names each that can't be read.
func readSecrets(sources []secretSource) (secrets []string, err error) {
	var failures []string
	for _, source := range sources {
		secret, err := readSecret(source.kind, source.name)
		if err != nil {
			failures = append(failures, err.Error())
		}
		secrets = append(secrets, secret)
	}
	if failures != nil {
		return nil, &Error{Status: StatusInvalidConfiguration, Message: strings.Join(failures, "\n")}
	}
	return secrets, nil
}

// Reads a secret as the C library does. No error contains it.
func readSecret(kind uint32, name string) (string, error) {
	if kind == secretEnv {
		value, found := os.LookupEnv(name)
		if !found {
			return "", fmt.Errorf("`client_secret_env` %s: the variable is not set", name)
		}
		return orLine(value), nil
	}
	text, err := readRegular(name)
	if err != nil {
		return "", fmt.Errorf("`client_secret_file` %s: %w", name, err)
	}
	return orLine(string(text)), nil
}

// An empty secret as an empty line, which the library refuses in the same way; an empty text has no address.
func orLine(secret string) string {
	if secret == "" {
		return "\n"
	}
	return secret
}

func (g *wasmGate) readSecrets() (err error) {
	failed := g.failing(func() Status {
		var secrets []string
		if secrets, err = readSecrets(g.sources); err != nil {
			return statusOK
		}
		var room handed
		list, ok := room.putList(g.instance, secrets)
		if !ok {
			return StatusPanic
		}
		status := g.instance.status("orbgate_gate_read_secrets", uint64(g.address), list, uint64(len(secrets)), uint64(g.base)+4)
		if !room.freeList(g.instance, list, secrets) {
			return StatusPanic
		}
		return status
	})
	if err == nil {
		err = failed
	}
	return err
}
