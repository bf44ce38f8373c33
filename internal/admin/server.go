package admin

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"time"
)

// Server serves a handler on one address.
type Server struct {
	listener net.Listener
	http     *http.Server
}

// ListenTLS is Listen with HTTPS, unless config is nil.
func ListenTLS(address string, config *tls.Config, handler http.Handler, log *slog.Logger) (*Server, error) {
	server, err := Listen(address, handler, log)
	if err == nil && config != nil {
		server.listener = tls.NewListener(server.listener, config)
	}
	return server, err
}

// Listen opens the address, so that a port in use is known before anything else
// starts. Clients wait until Serve is called. What goes wrong with single
// connections is logged at debug level.
func Listen(address string, handler http.Handler, log *slog.Logger) (*Server, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	server := &Server{
		listener: listener,
		http: &http.Server{
			Handler:           loudly(handler, log),
			BaseContext:       func(net.Listener) context.Context { return ctx },
			ReadHeaderTimeout: 5 * time.Second,
			ReadTimeout:       10 * time.Second,
			WriteTimeout:      30 * time.Second,
			IdleTimeout:       time.Minute,
			MaxHeaderBytes:    64 << 10,
			ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		},
	}
	server.http.RegisterOnShutdown(func() { cancel(errStopping) }) // answers may take long
	return server, nil
}

// loudly says what panicked, which net/http tells the log of single connections only.
func loudly(next http.Handler, log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			cause := recover()
			if cause == nil {
				return
			}
			if err, _ := cause.(error); !errors.Is(err, http.ErrAbortHandler) {
				log.Error("a request of the admin API ended in a panic: please report this", "path", r.URL.Path, "err", cause, "stack", string(debug.Stack()))
			}
			panic(http.ErrAbortHandler) // the connection ends
		}()
		next.ServeHTTP(w, r)
	})
}

// errStopping is why a request's context ends when the server is shut down.
var errStopping = errors.New("the process is being stopped")

// Addr returns the address in use, host:port.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Serve answers requests until Shutdown. It blocks; its caller owns the goroutine.
func (s *Server) Serve() error {
	if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Shutdown stops listening, ends the context of requests in flight and waits for them until
// ctx is done, then cuts them off. It works whether Serve was called or not.
func (s *Server) Shutdown(ctx context.Context) error {
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, s.http.Close())
	}
	// Without Serve nobody else closes it; otherwise it is closed already.
	_ = s.listener.Close()
	return err
}
