//go:build !js && !nocluster

package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// authority signs certificates.
type authority struct {
	t      *testing.T
	folder string
	cert   *x509.Certificate
	key    *ecdsa.PrivateKey
	count  int64
}

func newAuthority(t *testing.T, folder string) *authority {
	a := &authority{t: t, folder: folder}
	a.cert = &x509.Certificate{
		Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign,
	}
	a.issue("ca", a.cert)
	return a
}

// issue writes name.pem and name.key, and returns their paths.
func (a *authority) issue(name string, c *x509.Certificate) (cert, key string) {
	a.t.Helper()
	a.count++
	c.SerialNumber = big.NewInt(a.count)
	c.NotBefore, c.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	if c == a.cert {
		a.key = private
	}
	signed, err := x509.CreateCertificate(rand.Reader, c, a.cert, &private.PublicKey, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		a.t.Fatal(err)
	}
	return a.write(name+".pem", "CERTIFICATE", signed), a.write(name+".key", "PRIVATE KEY", der)
}

func (a *authority) write(name, kind string, der []byte) string {
	path := filepath.Join(a.folder, name)
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		a.t.Fatal(err)
	}
	return path
}

// startServer starts a server that keeps queues, and returns its port.
func startServer(t *testing.T, o *server.Options) (port string) {
	t.Helper()
	o.Host, o.Port, o.JetStream, o.NoLog, o.NoSigs = "127.0.0.1", -1, true, true, true
	o.StoreDir = t.TempDir()
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(10 * time.Second) {
		t.Fatal("the server does not start")
	}
	return s.Addr().String()[strings.LastIndexByte(s.Addr().String(), ':')+1:]
}

// asks runs an ensemble with workers at address, one of which it starts, and returns what the command said. Where the
// worker ends first, the command is ended, and what the worker said comes behind that.
func asks(t *testing.T, address string, flags ...string) (status int, text string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	var said bytes.Buffer // by the worker
	go func() {
		defer close(done)
		defer stop()
		run(ctx, append([]string{"worker", "--nats", address, "-q"}, flags...), nil, io.Discard, &said)
	}()
	model := filepath.Join("..", "..", "examples", "sensitivity", "tank.ode")
	var out, errs bytes.Buffer
	args := append([]string{"ensemble", model, "-n", "16", "-q", "--format", "json", "--workers", address}, flags...)
	status = run(ctx, args, nil, &out, &errs)
	stop()
	if <-done; status != exitDone {
		errs.Write(said.Bytes())
	}
	return status, out.String() + errs.String()
}

// alone is what asks returns for a server that lets in.
func alone(t *testing.T) string {
	t.Helper()
	model := filepath.Join("..", "..", "examples", "sensitivity", "tank.ode")
	var out, errs bytes.Buffer
	args := []string{"ensemble", model, "-n", "16", "-q", "--format", "json"}
	if status := run(t.Context(), args, nil, &out, &errs); status != exitDone {
		t.Fatal(errs.String())
	}
	return out.String()
}

// TestTLS: servers with a certificate of one's own, which want one of the client as well.
//
//odes:goroutines
func TestTLS(t *testing.T) {
	folder := t.TempDir()
	a := newAuthority(t, folder)
	cert, key := a.issue("server", &x509.Certificate{
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	client, clientKey := a.issue("client", &x509.Certificate{
		Subject: pkix.Name{CommonName: "me"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(must(x509.ParseCertificate(readPEM(t, filepath.Join(folder, "ca.pem")))))
	port := startServer(t, &server.Options{
		TLS: true, TLSVerify: true, TLSConfig: &tls.Config{
			Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
		},
	})
	address, ca := "tls://127.0.0.1:"+port, filepath.Join(folder, "ca.pem")
	status, text := asks(t, address, "--nats-ca", ca, "--nats-cert", client, "--nats-key", clientKey)
	if want := alone(t); status != exitDone || text != want {
		t.Errorf("status %d:\n%s\nnot\n%s", status, text, want)
	}
	for name, flags := range map[string][]string{
		"without the authority":     {"--nats-cert", client, "--nats-key", clientKey},
		"without a certificate":     {"--nats-ca", ca},
		"a certificate and no key":  {"--nats-ca", ca, "--nats-cert", client},
		"the key of another client": {"--nats-ca", ca, "--nats-cert", client, "--nats-key", key},
	} {
		if status, text := asks(t, address, flags...); status == exitDone {
			t.Errorf("%s: the server lets in:\n%s", name, text)
		}
	}
}

// TestCredentials: a server that lets in whom its operator trusts, by a file of credentials.
func TestCredentials(t *testing.T) {
	if testing.Short() {
		t.Skip("the server takes a while")
	}
	operator, system := must(nkeys.CreateOperator()), must(nkeys.CreateAccount())
	account, user := must(nkeys.CreateAccount()), must(nkeys.CreateUser())
	name := func(k nkeys.KeyPair) string { return must(k.PublicKey()) }
	resolver := &server.MemAccResolver{}
	claims := jwt.NewAccountClaims(name(account))
	claims.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
	for _, c := range []*jwt.AccountClaims{claims, jwt.NewAccountClaims(name(system))} {
		if err := resolver.Store(c.Subject, must(c.Encode(operator))); err != nil {
			t.Fatal(err)
		}
	}
	trusted := jwt.NewOperatorClaims(name(operator))
	trusted.SystemAccount = name(system)
	port := startServer(t, &server.Options{
		TrustedOperators: []*jwt.OperatorClaims{trusted}, AccountResolver: resolver, SystemAccount: name(system),
	})
	creds := must(jwt.FormatUserConfig(must(jwt.NewUserClaims(name(user)).Encode(account)), must(user.Seed())))
	path := filepath.Join(t.TempDir(), "me.creds")
	if err := os.WriteFile(path, creds, 0o600); err != nil {
		t.Fatal(err)
	}
	address := "nats://127.0.0.1:" + port
	status, text := asks(t, address, "--nats-creds", path)
	if want := alone(t); status != exitDone || text != want {
		t.Errorf("status %d:\n%s\nnot\n%s", status, text, want)
	}
	if status, text := asks(t, address); status == exitDone {
		t.Errorf("without credentials the server lets in:\n%s", text)
	}
}

func readPEM(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	return block.Bytes
}

// must returns what cannot fail in a test.
func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}
