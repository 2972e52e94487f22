package gate_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/orbgate/orbgate/bindings/go/orbgate/gate"
)

// A key and a certificate of its own.
func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// Proofs in headers: `cargo xtask gate go --group proof`.
func TestATokenThatIsBoundToACertificateNeedsTheConnections(t *testing.T) {
	i := newIssuer(t)
	protect := newGate(t, i, gate.Config{Tokens: i.tokens() + "    proof: mtls\n"})
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+orbs, service)
	server := httptest.NewUnstartedServer(protect.Mux(mux))
	server.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	own, other := certificate(t), certificate(t)
	hash := sha256.Sum256(own.Certificate[0])
	token := i.token(t, "ec", map[string]any{"cnf": map[string]string{"x5t#S256": text(hash[:])}})
	for _, http2 := range []bool{false, true} {
		for status, certificates := range map[int][][]tls.Certificate{200: {{own}}, 401: {{other}, nil}} {
			for _, certificates := range certificates {
				client := &http.Client{Transport: &http.Transport{
					ForceAttemptHTTP2: http2, DisableKeepAlives: true,
					TLSClientConfig: &tls.Config{InsecureSkipVerify: true, Certificates: certificates},
				}}
				request, _ := http.NewRequest("GET", server.URL+orbs, nil)
				request.Header.Set("Authorization", "Bearer "+token)
				request.Header.Set("Client-Cert", ":ZGVy:")
				response, err := client.Do(request)
				if err != nil {
					t.Fatal(err)
				}
				response.Body.Close()
				if response.StatusCode != status || (response.ProtoMajor == 2) != http2 {
					t.Error(response.Status, response.Proto, len(certificates), "not", status)
				}
			}
		}
	}
}
