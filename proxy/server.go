package proxy

import (
	"github.com/quolldb/quoll/proxy/front"
	"github.com/quolldb/quoll/proxy/route"
	"github.com/quolldb/quoll/proxy/session"
)

// ErrServerClosed is returned by Serve once Shutdown was called.
var ErrServerClosed = front.ErrServerClosed

// ServerConfig is how a Server treats its clients.
type ServerConfig struct {
	// Clients is about connections, Sessions about commands.
	Clients  front.Config
	Sessions session.Config
}

// Server answers Redis clients with what a cluster holds. Serve and Shutdown are the front's.
type Server struct {
	*front.Server
	sessions *session.Service
}

// NewServer returns a server that is not listening yet.
func NewServer(cfg ServerConfig, cluster route.Cluster) *Server {
	sessions := session.NewService(cfg.Sessions, cluster)
	open := func(c *front.Conn) front.Session { return sessions.Open(c) }
	return &Server{Server: front.New(cfg.Clients, cluster, open), sessions: sessions}
}

// Sessions counts what the clients' commands do; Stats, of the front, what their connections do.
func (s *Server) Sessions() *session.Stats { return s.sessions.Stats() }
