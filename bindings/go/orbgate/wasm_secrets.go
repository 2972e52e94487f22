//go:build !orbgate_cgo

package orbgate

import (
	"fmt"
	"os"
	"strings"

	"github.com/orbgate/orbgate/bindings/go/orbgate/internal/steps"
)

// What wasmGate reads for the module, which can't: the secrets of the clients that ask about opaque tokens, and files with keys.

// Reads the secrets. The error names each that can't be read.
func readSecrets(sources []steps.SecretSource) (secrets []steps.Secret, err error) {
	var failures []string
	for _, source := range sources {
		secret, err := readSecret(source)
		if err != nil {
			failures = append(failures, err.Error())
		}
		secrets = append(secrets, steps.Secret{Value: &secret})
	}
	if failures != nil {
		return nil, &Error{Status: StatusInvalidConfiguration, Message: strings.Join(failures, "\n")}
	}
	return secrets, nil
}

// Reads a secret as the C library does. No error contains it.
func readSecret(source steps.SecretSource) (string, error) {
	if source.Kind == steps.SecretEnv {
		value, isSet := os.LookupEnv(source.Name)
		if !isSet {
			return "", fmt.Errorf("`client_secret_env` %s: the variable is not set", source.Name)
		}
		return value, nil
	}
	text, err := readRegular(source.Name)
	if err != nil {
		key := "client_secret_file"
		if source.Kind == steps.SecretKeys {
			key = "jwks_file"
		}
		return "", fmt.Errorf("`%s` %s: %w", key, source.Name, err)
	}
	return string(text), nil
}

func (g *wasmGate) secrets() ([]steps.Secret, error) {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return readSecrets(g.sources)
}
