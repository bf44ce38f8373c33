package session

import (
	"errors"
	"strings"
	"syscall"

	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
)

// Parameter is one of Redis' configuration parameters, with its value as CONFIG GET shows it.
type Parameter struct{ Name, Value string }

var errNoConfigFile = route.Refuse("ERR The server is running without a config file")

// configRewrite is CONFIG REWRITE, https://redis.io/commands/config-rewrite/: what CONFIG SET has changed is written to the file that the proxy was started with. It waits for the disk, as
// Redis does.
func configRewrite(s *Session, dst []byte, _ [][]byte) []byte {
	rewrite, log := s.service.cfg.Rewrite, s.service.cfg.Logger
	if rewrite == nil {
		return route.AppendReply(dst, errNoConfigFile)
	}
	config := &s.service.config
	config.setting.Lock()
	defer config.setting.Unlock()
	var changed []Parameter
	for i := range parameters {
		if p := &parameters[i]; config.changed[p.name] {
			changed = append(changed, Parameter{p.name, p.get(s)})
		}
	}
	if err := rewrite(changed); err != nil {
		log.Warn("CONFIG REWRITE failed", "err", err)
		return route.AppendReply(dst, route.Refuse("ERR Rewriting config file: "+reasonOf(err)))
	}
	s.audit("CONFIG REWRITE")
	return append(dst, resp.OK...)
}

// reasonOf is what is told of an error, in one line: of one of the system what it says itself, as in Redis.
func reasonOf(err error) string {
	var number syscall.Errno
	if errors.As(err, &number) {
		text := number.Error()
		return strings.ToUpper(text[:1]) + text[1:]
	}
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}
