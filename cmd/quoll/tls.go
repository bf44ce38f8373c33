package main

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/quolldb/quoll/internal/certs"
	"github.com/quolldb/quoll/internal/config"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node"
)

// security is what a process has of certificates and keys. Parts that are nil are not encrypted.
type security struct {
	peers          *wire.TLS
	clients, admin *tls.Config
	gossip         *certs.Keys

	stores []*certs.Store
}

// open reads the files of one use.
func (s *security) open(use string, files certs.Files) (*certs.Store, error) {
	store, err := certs.Open(use, files)
	if err == nil {
		s.stores = append(s.stores, store)
	}
	return store, err
}

// meetPeers has the owner of a certificate meet others of the cluster as it says.
func (s *security) meetPeers(mode string, files certs.Files, own certs.Identity) error {
	if mode == config.PeerTLSOff {
		return nil
	}
	store, err := s.open("peer", files)
	if err != nil {
		return err
	}
	peers, err := certs.NewPeers(store, own)
	s.peers = &wire.TLS{Peers: peers, Optional: mode == config.PeerTLSOptional}
	return err
}

// serveAdmin has the admin API served by HTTPS. Who shows a certificate by the CA is welcome, as everybody else is: the secret is the guard.
func (s *security) serveAdmin(files certs.Files) error {
	store, err := s.open("admin", files)
	if err != nil {
		return err
	}
	auth := certs.ClientAuthOff
	if files.CA != "" {
		auth = certs.ClientAuthOptional
	}
	s.admin = store.Server(auth, tls.VersionTLS12)
	return nil
}

// serveClients has Redis clients served with TLS.
func (s *security) serveClients(files certs.Files, auth, least string) error {
	store, err := s.open("client", files)
	if err != nil {
		return err
	}
	version := uint16(tls.VersionTLS12)
	if least == "1.3" {
		version = tls.VersionTLS13
	}
	s.clients = store.Server(certs.ClientAuth(auth), version)
	return nil
}

// secureNode reads what a node has.
func secureNode(cfg *config.Node) (s *security, err error) {
	s = new(security)
	files := certs.Files{Cert: cfg.PeerTLSCertFile, Key: cfg.PeerTLSKeyFile, CA: cfg.PeerTLSCaFile}
	err = s.meetPeers(cfg.PeerTLS, files, certs.Identity{Cluster: cfg.ClusterName, Role: certs.Node, Name: cfg.Name})
	if err == nil && cfg.AdminTLS {
		err = s.serveAdmin(files)
	}
	if err == nil && (cfg.TLSListen != "" || cfg.ReplicaTLSListen != "") {
		err = s.serveClients(certs.Files{Cert: cfg.TLSCertFile, Key: cfg.TLSKeyFile, CA: cfg.TLSCaFile}, cfg.TLSClientAuth, cfg.TLSMinVersion)
	}
	if err == nil && cfg.GossipKeyFile != "" {
		s.gossip, err = certs.OpenKeys(cfg.GossipKeyFile, node.GossipKey([]byte(cfg.Secret.Reveal())))
	}
	return s, err
}

// secureProxy reads what a proxy has.
func secureProxy(cfg *config.Proxy) (s *security, err error) {
	s = new(security)
	err = s.meetPeers(cfg.PeerTLS, certs.Files{Cert: cfg.PeerTLSCertFile, Key: cfg.PeerTLSKeyFile, CA: cfg.PeerTLSCaFile}, certs.Identity{Cluster: cfg.ClusterName, Role: certs.Proxy})
	files := certs.Files{Cert: cfg.TLSCertFile, Key: cfg.TLSKeyFile, CA: cfg.TLSCaFile}
	if err == nil && cfg.TLSListen != "" {
		err = s.serveClients(files, cfg.TLSClientAuth, cfg.TLSMinVersion)
	}
	if err == nil && cfg.AdminTLS {
		err = s.serveAdmin(files)
	}
	return s, err
}

// secureDev reads what dev has.
func secureDev(cfg config.Dev) (s *security, err error) {
	s = new(security)
	if cfg.TLSListen != "" {
		err = s.serveClients(certs.Files{Cert: cfg.TLSCertFile, Key: cfg.TLSKeyFile, CA: cfg.TLSCaFile}, cfg.TLSClientAuth, cfg.TLSMinVersion)
	}
	return s, err
}

// watch has changed files in force, within a second or at once on SIGHUP, until what it returns is called.
func (s *security) watch(log *slog.Logger) (stop func()) {
	var files []certs.Watched
	for _, store := range s.stores {
		files = append(files, store)
	}
	if s.gossip != nil {
		files = append(files, s.gossip)
	}
	if len(files) == 0 {
		return func() {}
	}
	now := make(chan os.Signal, 1)
	signal.Notify(now, syscall.SIGHUP)
	ctx, cancel := context.WithCancel(context.Background())
	var watcher sync.WaitGroup
	watcher.Go(func() { certs.Watch(ctx, log, now, files...) })
	return func() {
		signal.Stop(now)
		cancel()
		watcher.Wait()
	}
}

// expiries are those of all certificates.
func (s *security) expiries() (all []certs.Expiry) {
	for _, store := range s.stores {
		all = append(all, store.Expiries(time.Now())...)
	}
	return all
}

// certificate is what the status of a node shows of its own one, nil if it has none.
func (s *security) certificate() func() (expires time.Time, due bool) {
	if s.peers == nil {
		return nil
	}
	return func() (expires time.Time, due bool) {
		own := s.stores[0].Expiries(time.Now())[0]
		return own.At, own.Due
	}
}

// clientListeners are where Redis clients connect, and the replica port of a node; nil for those that there are not.
type clientListeners struct{ plain, secure, replica, replicaSecure net.Listener }

// listenClients opens the ports for clients.
func listenClients(plain, secure string) (l clientListeners, err error) {
	if plain != config.NoListener {
		if l.plain, err = net.Listen("tcp", plain); err != nil {
			return l, err
		}
	}
	if secure != "" {
		if l.secure, err = net.Listen("tcp", secure); err != nil {
			l.close()
		}
	}
	return l, err
}

func (l clientListeners) close() {
	for _, listener := range []net.Listener{l.plain, l.secure, l.replica, l.replicaSecure} {
		if listener != nil {
			listener.Close()
		}
	}
}

// addr is the address without TLS, if there is one, else that with it.
func (l clientListeners) addr() net.Addr {
	if l.plain == nil {
		return l.secure.Addr()
	}
	return l.plain.Addr()
}

// secureAddr is where clients connect with TLS, empty for nowhere.
func (l clientListeners) secureAddr() string {
	if l.secure == nil {
		return ""
	}
	return l.secure.Addr().String()
}

// clientTLS is how an admin API is asked by HTTPS, nil if the settings do not say that it is to be.
func clientTLS(cfg config.Client) (*tls.Config, error) {
	if cfg.TLSCaFile == "" && cfg.TLSCertFile == "" {
		return nil, nil
	}
	store, err := certs.Open("admin", certs.Files{Cert: cfg.TLSCertFile, Key: cfg.TLSKeyFile, CA: cfg.TLSCaFile})
	if err != nil {
		return nil, err
	}
	return store.Client(""), nil // the name is that of the address
}
