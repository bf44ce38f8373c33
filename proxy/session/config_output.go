package session

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/quolldb/quoll/proxy/front"
)

// outputLimits is client-output-buffer-limit: how much may wait for a client. Those that replicate there are none.
func outputLimits(s *Session) string {
	return fmt.Sprintf("normal %s slave %s pubsub %s", limitText(s.conn.Server().Config().OutputLimit), limitText(front.OutputLimit{}), limitText(front.PubSubLimit))
}

func limitText(l front.OutputLimit) string {
	return fmt.Sprintf("%d %d %d", l.Hard, l.Soft, int64(l.SoftFor.Seconds()))
}

// setOutputLimits sets that of normal clients. It is of connections to come, and of how much the replies of a pipeline may be.
func setOutputLimits(s *Session, value string) (func(), error) {
	fields := strings.Fields(value)
	if len(fields)%4 != 0 {
		return nil, fmt.Errorf("Wrong number of arguments in buffer limit configuration.")
	}
	var normal *front.OutputLimit
	for ; len(fields) > 0; fields = fields[4:] {
		limit, ok := parseOutputLimit(fields[1:4])
		class := strings.ToLower(fields[0])
		switch {
		case class != "normal" && class != "slave" && class != "replica" && class != "pubsub":
			return nil, fmt.Errorf("Invalid client class specified in buffer limit configuration.")
		case !ok:
			return nil, fmt.Errorf("Error in hard, soft or soft_seconds setting in buffer limit configuration.")
		case class == "normal":
			normal = &limit
		case class == "pubsub" && limit != front.PubSubLimit, class != "pubsub" && limit != front.OutputLimit{}:
			return nil, fmt.Errorf("Quoll changes that of the class normal only; nothing was changed")
		}
	}
	return func() {
		if normal == nil {
			return
		}
		s.conn.Server().Change(func(c *front.Config) { c.OutputLimit = *normal })
		most := s.conn.Server().Started().ClientMemory
		if normal.Hard > 0 {
			most = min(most, normal.Hard)
		}
		s.service.config.outputLimit.Store(most)
	}, nil
}

// parseOutputLimit reads a hard limit, a soft one, and the seconds of the soft one.
func parseOutputLimit(fields []string) (limit front.OutputLimit, ok bool) {
	hard, hardOK := parseMemory(fields[0])
	soft, softOK := parseMemory(fields[1])
	seconds, err := strconv.ParseInt(fields[2], 10, 32)
	if !hardOK || !softOK || err != nil || seconds < 0 {
		return limit, false
	}
	return front.OutputLimit{Hard: hard, Soft: soft, SoftFor: time.Duration(seconds) * time.Second}, true
}

// keptFiles is how many files the proxy needs beside those of clients.
const keptFiles = 128

// mostClients is for how many clients the system lets the proxy have files.
func mostClients() int64 {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return math.MaxInt64
	}
	return int64(min(files.Cur, math.MaxInt64)) - keptFiles
}
