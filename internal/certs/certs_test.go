package certs

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// authority makes a CA in a directory of the test's.
func authority(t *testing.T, cluster string) *Authority {
	t.Helper()
	ca, err := NewAuthority(t.TempDir(), cluster, 10*365*24*time.Hour)
	require.NoError(t, err)
	return ca
}

// issue makes a certificate, also where there was one before.
func (a *Authority) issue(t *testing.T, r Request) Files {
	t.Helper()
	for _, end := range []string{".crt", ".key"} {
		_ = os.Remove(filepath.Join(a.dir, FileOf(r.Role, r.Name)+end))
	}
	if r.Valid == 0 {
		r.Valid = time.Hour
	}
	cert, key, err := a.Issue(r)
	require.NoError(t, err)
	return Files{Cert: cert, Key: key, CA: filepath.Join(a.dir, CAFile)}
}

func open(t *testing.T, files Files) *Store {
	t.Helper()
	s, err := Open("test", files)
	require.NoError(t, err)
	return s
}

func write(t *testing.T, path string, parts ...[]byte) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, bytes.Join(parts, nil), 0o600))
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return text
}

func TestFilesAreTheOwnersAndStay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "certs")
	ca, err := NewAuthority(dir, "quoll", time.Hour)
	require.NoError(t, err)
	files := ca.issue(t, Request{Role: Node, Name: "n1", Hosts: []string{"10.0.0.1", "n1.example"}, Valid: 10 * time.Hour})
	for _, key := range []string{filepath.Join(dir, CAKeyFile), files.Key} {
		info, err := os.Stat(key)
		require.NoError(t, err)
		require.EqualValues(t, 0o600, info.Mode().Perm())
	}
	before := read(t, files.Key)
	_, _, err = ca.Issue(Request{Role: Node, Name: "n1", Valid: time.Hour})
	require.ErrorIs(t, err, ErrExists)
	_, err = NewAuthority(dir, "quoll", time.Hour)
	require.ErrorIs(t, err, ErrExists)
	require.Equal(t, before, read(t, files.Key))

	leaf := open(t, files).current.Load().leaf()
	require.Equal(t, "n1", leaf.Subject.CommonName)
	require.Equal(t, []string{"n1.example"}, leaf.DNSNames)
	require.Equal(t, "10.0.0.1", leaf.IPAddresses[0].String())
	require.False(t, leaf.NotAfter.After(ca.cert.NotAfter), "no longer than its CA")
	identity, err := IdentityOf(leaf)
	require.NoError(t, err)
	require.Equal(t, Identity{"quoll", Node, "n1"}, identity)

	_, err = OpenAuthority(t.TempDir())
	require.ErrorContains(t, err, "quoll cert init makes one")
}

func TestIdentities(t *testing.T) {
	for text, says := range map[string]string{
		"":                                      "has 0 URIs",
		"urn:quoll:a:node":                      "is not urn:quoll:CLUSTER:ROLE:NAME",
		"urn:quoll::node:n":                     "is not urn:quoll:CLUSTER:ROLE:NAME",
		"urn:quoll:a:node:n:m":                  "is not urn:quoll:CLUSTER:ROLE:NAME",
		"spiffe://a/node/n":                     "has 0 URIs",
		"urn:quoll:a:node:n urn:quoll:a:node:m": "has 2 URIs",
		"spiffe://x/y urn:quoll:a:node:n":       "",
	} {
		cert := new(x509.Certificate)
		for _, part := range strings.Fields(text) {
			uri, err := url.Parse(part)
			require.NoError(t, err)
			cert.URIs = append(cert.URIs, uri)
		}
		identity, err := IdentityOf(cert)
		if says == "" {
			require.NoError(t, err)
			require.Equal(t, "urn:quoll:a:node:n", identity.String())
			continue
		}
		require.ErrorIs(t, err, ErrIdentity)
		require.ErrorContains(t, err, says)
	}
}

// shake connects two sides and returns what each says of it.
func shake(t *testing.T, server, client *tls.Config) (state tls.ConnectionState, serverErr, clientErr error) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	here, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	there, err := listener.Accept()
	require.NoError(t, err)
	defer here.Close()
	done := make(chan struct{})
	s := tls.Server(there, server)
	go func() {
		defer close(done)
		defer there.Close()
		if serverErr = s.Handshake(); serverErr == nil {
			_, serverErr = s.Write([]byte("x"))
		}
	}()
	c := tls.Client(here, client)
	if clientErr = c.Handshake(); clientErr == nil {
		_, clientErr = io.ReadFull(c, make([]byte, 1))
	}
	here.Close()
	<-done
	return s.ConnectionState(), serverErr, clientErr
}

func peers(t *testing.T, files Files, want Identity) *Peers {
	t.Helper()
	p, err := NewPeers(open(t, files), want)
	require.NoError(t, err)
	return p
}

func TestPeers(t *testing.T) {
	ca, other := authority(t, "quoll"), authority(t, "quoll")
	n1 := peers(t, ca.issue(t, Request{Role: Node, Name: "n1"}), Identity{"quoll", Node, "n1"})
	p1 := peers(t, ca.issue(t, Request{Role: Proxy, Name: "p1"}), Identity{"quoll", Proxy, ""})
	state, serverErr, clientErr := shake(t, n1.Server(), p1.Client())
	require.NoError(t, serverErr)
	require.NoError(t, clientErr)
	identity, err := n1.Identity(state)
	require.NoError(t, err)
	require.Equal(t, Identity{"quoll", Proxy, "p1"}, identity)

	foreign := other.issue(t, Request{Role: Node, Name: "n1"})
	elsewhere := *ca
	elsewhere.cluster = "staging"
	for name, client := range map[string]*tls.Config{
		"of another CA":      peers(t, foreign, Identity{"quoll", Node, "n1"}).Client(),
		"of another cluster": peers(t, elsewhere.issue(t, Request{Role: Node, Name: "x"}), Identity{"staging", Node, "x"}).Client(),
		"of a client":        open(t, ca.issue(t, Request{Role: Client, Name: "alice"})).Client(""),
		"none":               {InsecureSkipVerify: true},
		"TLS 1.2":            {InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12},
	} {
		client.InsecureSkipVerify, client.VerifyConnection = true, nil // what the server says counts
		state, serverErr, _ := shake(t, n1.Server(), client)
		if name == "of a client" { // a part of no cluster: the link looks at the role
			identity, err := n1.Identity(state)
			require.NoError(t, err)
			require.Equal(t, Client, identity.Role)
			continue
		}
		require.Error(t, serverErr, name)
	}
	_, _, clientErr = shake(t, peers(t, foreign, Identity{"quoll", Node, "n1"}).Server(), n1.Client())
	require.ErrorContains(t, clientErr, "unknown authority")
	client := open(t, ca.issue(t, Request{Role: Client, Name: "alice"})).Server(ClientAuthOff, tls.VersionTLS13)
	_, _, clientErr = shake(t, client, n1.Client())
	require.ErrorContains(t, clientErr, "key usage", "who is no node does not serve")

	for _, want := range []Identity{{"other", Node, "n1"}, {"quoll", Proxy, ""}, {"quoll", Node, "n2"}} {
		_, err := NewPeers(n1.store, want)
		require.ErrorIs(t, err, ErrIdentity)
	}
}

// TestTwoGenerations: while the CA file has both, certificates of each are good; and one generation alone refuses the other.
func TestTwoGenerations(t *testing.T) {
	old, young := authority(t, "quoll"), authority(t, "quoll")
	a, b := old.issue(t, Request{Role: Node, Name: "a"}), young.issue(t, Request{Role: Node, Name: "b"})
	pa, pb := peers(t, a, Identity{"quoll", Node, "a"}), peers(t, b, Identity{"quoll", Node, "b"})
	_, serverErr, _ := shake(t, pa.Server(), pb.Client())
	require.Error(t, serverErr)
	both := [][]byte{read(t, a.CA), read(t, b.CA)}
	write(t, a.CA, both...)
	write(t, b.CA, both...)
	require.NoError(t, pa.store.Reload())
	require.NoError(t, pb.store.Reload())
	for _, pair := range [][2]*Peers{{pa, pb}, {pb, pa}} {
		_, serverErr, clientErr := shake(t, pair[0].Server(), pair[1].Client())
		require.NoError(t, serverErr)
		require.NoError(t, clientErr)
	}
}

func TestBadFilesChangeNothing(t *testing.T) {
	ca := authority(t, "quoll")
	files := ca.issue(t, Request{Role: Node, Name: "n1"})
	p := peers(t, files, Identity{"quoll", Node, "n1"})
	s, good := p.store, map[string][]byte{}
	for _, path := range []string{files.Cert, files.Key, files.CA} {
		good[path] = read(t, path)
	}
	foreign := ca.issue(t, Request{Role: Node, Name: "n2"})
	expired := ca.issue(t, Request{Role: Node, Name: "n3", Valid: -time.Minute})
	serial := s.current.Load().leaf().SerialNumber
	for name, bad := range map[string]map[string][]byte{
		"no certificate":     {files.Cert: []byte("x")},
		"half a certificate": {files.Cert: good[files.Cert][:100]},
		"another key":        {files.Key: read(t, foreign.Key)},
		"no CA":              {files.CA: nil},
		"of another node":    {files.Cert: read(t, foreign.Cert), files.Key: read(t, foreign.Key)},
		"that has expired":   {files.Cert: read(t, expired.Cert), files.Key: read(t, expired.Key)},
	} {
		for path, text := range bad {
			write(t, path, text)
		}
		changed, err := s.reload()
		require.NoError(t, err, "%s: it may be just written", name)
		require.False(t, changed)
		_, err = s.reload()
		require.Error(t, err, name)
		require.True(t, s.Failed())
		_, err = s.reload()
		require.NoError(t, err, "%s: it is said once", name)
		require.Equal(t, serial, s.current.Load().leaf().SerialNumber, name)
		for path, text := range good {
			write(t, path, text)
		}
		changed, err = s.reload()
		require.NoError(t, err)
		require.False(t, changed)
		require.False(t, s.Failed())
	}
	require.NoError(t, os.Remove(files.Cert))
	require.Error(t, s.Reload())
	require.Equal(t, serial, s.current.Load().leaf().SerialNumber)

	for _, wrong := range []Files{{Cert: "no/such", Key: files.Key}, {CA: files.Key}} {
		_, err := Open("test", wrong)
		require.ErrorIs(t, err, ErrFile)
	}
}

// TestLinkedFiles: Kubernetes mounts a secret as links to a directory, of which the name changes.
func TestLinkedFiles(t *testing.T) {
	ca, dir := authority(t, "quoll"), t.TempDir()
	var generations []string
	for _, name := range []string{"first", "second"} {
		files, to := ca.issue(t, Request{Role: Node, Name: "n1"}), filepath.Join(dir, name)
		require.NoError(t, os.Mkdir(to, 0o700))
		write(t, filepath.Join(to, "tls.crt"), read(t, files.Cert))
		write(t, filepath.Join(to, "tls.key"), read(t, files.Key))
		generations = append(generations, to)
	}
	link := filepath.Join(dir, "data")
	require.NoError(t, os.Symlink(generations[0], link))
	s := open(t, Files{Cert: filepath.Join(link, "tls.crt"), Key: filepath.Join(link, "tls.key")})
	require.NoError(t, os.Symlink(generations[1], link+".new"))
	require.NoError(t, os.Rename(link+".new", link))
	changed, err := s.reload()
	require.NoError(t, err)
	require.True(t, changed)
}

// TestDue: what expires soon is said once a day, from 30 days before on, or from a third of its life on.
func TestDue(t *testing.T) {
	ca := authority(t, "quoll")
	for valid, before := range map[time.Duration]time.Duration{365 * 24 * time.Hour: 30 * 24 * time.Hour, 72 * time.Hour: 24 * time.Hour} {
		s := open(t, ca.issue(t, Request{Role: Node, Name: "n1", Valid: valid}))
		from := s.current.Load().leaf().NotAfter.Add(-before)
		require.Empty(t, s.due(from.Add(-time.Hour)))
		due := s.due(from.Add(time.Hour))
		require.Len(t, due, 1, "the CA is good for years")
		require.True(t, due[0].Due)
		require.False(t, due[0].CA)
		require.Empty(t, s.due(from.Add(10*time.Hour)))
		require.Len(t, s.due(from.Add(26*time.Hour)), 1)
	}
}

// TestWatch: files are looked at each second, and at once when told to.
func TestWatch(t *testing.T) {
	ca := authority(t, "quoll")
	synctest.Test(t, func(t *testing.T) {
		files := ca.issue(t, Request{Role: Node, Name: "n1", Valid: 90 * 24 * time.Hour})
		s := open(t, files)
		var log bytes.Buffer
		now, ctx := make(chan os.Signal), t.Context()
		ctx, cancel := context.WithCancel(ctx)
		done := make(chan struct{})
		go func() {
			defer close(done)
			Watch(ctx, slog.New(slog.NewTextHandler(&log, nil)), now, s)
		}()
		synctest.Wait()
		require.Empty(t, log.String())

		ca.issue(t, Request{Role: Node, Name: "n1", Valid: 90 * 24 * time.Hour})
		now <- os.Interrupt
		synctest.Wait()
		require.Contains(t, log.String(), "new certificates are in force")

		log.Reset()
		write(t, files.Cert, []byte("x"))
		time.Sleep(3 * Interval)
		synctest.Wait()
		require.Equal(t, 1, strings.Count(log.String(), "level=ERROR"))
		ca.issue(t, Request{Role: Node, Name: "n1", Valid: 90 * 24 * time.Hour})
		time.Sleep(2 * Interval)
		synctest.Wait()

		log.Reset()
		ca.issue(t, Request{Role: Node, Name: "n1", Valid: time.Minute})
		time.Sleep(2*time.Minute + Interval/2)
		synctest.Wait()
		require.Equal(t, 1, strings.Count(log.String(), "the certificate expires soon"))
		cancel()
		<-done
	})
}

func TestKeys(t *testing.T) {
	path, derived := filepath.Join(t.TempDir(), "keys"), bytes.Repeat([]byte{9}, KeySize)
	key := func(b byte) string { return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{b}, KeySize)) }
	write(t, path, []byte("# of the cluster\n\nsecret\n"+key(1)+"\n"))
	k, err := OpenKeys(path, derived)
	require.NoError(t, err)
	require.Equal(t, [][]byte{derived, bytes.Repeat([]byte{1}, KeySize)}, k.Keys())
	var log bytes.Buffer
	var told [][]byte
	k.OnChange(func(keys [][]byte) { told = keys })
	look := func() { k.look(slog.New(slog.NewTextHandler(&log, nil))) }
	look()
	require.Empty(t, log.String())
	for _, bad := range []string{"", "secret x", key(1)[:20]} {
		write(t, path, []byte(bad+"\n"))
		look()
		look()
		require.Equal(t, 1, strings.Count(log.String(), "level=ERROR"), bad)
		require.Nil(t, told)
		log.Reset()
	}
	write(t, path, []byte(key(2)))
	look()
	require.Equal(t, [][]byte{bytes.Repeat([]byte{2}, KeySize)}, told)
	write(t, path, []byte("secret"))
	_, err = OpenKeys(path, nil)
	require.ErrorContains(t, err, "there is no secret")
	require.Nil(t, (*Keys)(nil).Keys())
}
