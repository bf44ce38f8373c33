package session

import (
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
)

// tracking is what a connection has asked for with CLIENT TRACKING. Quoll tells no client of keys that change, so it takes only the mode that
// promises nothing by itself: OPTIN, in which a key is tracked if CLIENT CACHING YES came before the command that read it. CACHING YES is refused,
// and so is the command behind it, whose reply the client would keep: it does not look at the reply to CACHING YES. rueidis and valkey-go ask for
// this mode when they connect, and do not go on without it.
type tracking struct{ on, noLoop bool }

var (
	errNoTracking = route.Refuse("ERR CLIENT TRACKING and client-side caching are not supported yet by Quoll. " +
		"Only the mode OPTIN can be asked for, which tracks nothing by itself")
	errCachingWithout = route.Refuse("ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled")
	errCachingNo      = route.Refuse("ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.")
	errNoCaching      = route.Refuse("ERR CLIENT CACHING and client-side caching are not supported yet by Quoll; the next command will not be executed")
	errToBeCached     = route.Refuse("ERR nothing was done: the client would cache the reply, and Quoll does not say yet when a key changes. " +
		"Read it without a cache: rueidis and valkey-go do so with DisableCache")
)

// clientTracking is CLIENT TRACKING ON|OFF [OPTIN] [NOLOOP].
func clientTracking(s *Session, dst []byte, args [][]byte) []byte {
	on, optIn, noLoop := is(args[2], "ON"), false, false
	for _, option := range args[3:] {
		switch {
		case is(option, "OPTIN"):
			optIn = true
		case is(option, "NOLOOP"):
			noLoop = true
		default:
			return route.AppendReply(dst, errNoTracking)
		}
	}
	if on != optIn || !on && !is(args[2], "OFF") {
		return route.AppendReply(dst, errNoTracking)
	}
	s.info.set(func(c *clientInfo) { c.tracking = tracking{on, on && noLoop} })
	return append(dst, resp.OK...)
}

// clientTrackingInfo is CLIENT TRACKINGINFO.
func clientTrackingInfo(s *Session, dst []byte, _ [][]byte) []byte {
	t := s.info.tracks()
	flags, redirect := []string{"off"}, int64(-1)
	if t.on {
		flags, redirect = []string{"on", "optin"}, 0
	}
	if t.noLoop {
		flags = append(flags, "noloop")
	}
	dst = resp.AppendMap(dst, 3, s.resp3)
	dst = resp.AppendSet(resp.AppendBulk(dst, "flags"), len(flags), s.resp3)
	for _, flag := range flags {
		dst = resp.AppendBulk(dst, flag)
	}
	dst = resp.AppendInt(resp.AppendBulk(dst, "redirect"), redirect)
	return resp.AppendArray(resp.AppendBulk(dst, "prefixes"), 0)
}

// clientGetRedir is CLIENT GETREDIR: to whom it is said that keys have changed.
func clientGetRedir(s *Session, dst []byte, _ [][]byte) []byte {
	return resp.AppendInt(dst, s.info.tracks().redirect())
}

// redirect is 0 for the connection itself, and -1 for nobody, as Redis has it.
func (t tracking) redirect() int64 {
	if t.on {
		return 0
	}
	return -1
}

// clientCaching is CLIENT CACHING YES|NO.
func clientCaching(s *Session, dst []byte, args [][]byte) []byte {
	switch {
	case !s.info.tracks().on:
		return route.AppendReply(dst, errCachingWithout)
	case is(args[2], "NO"):
		return route.AppendReply(dst, errCachingNo)
	case !is(args[2], "YES"):
		return route.AppendReply(dst, errSyntax)
	}
	s.uncached = true
	return route.AppendReply(dst, errNoCaching)
}

// toBeCached reports whether the client would cache the reply to a command: that of the next one, or those of the transaction that begins with it. It may then ask for the
// one behind.
func (s *Session) toBeCached(cmd *command.Command) bool {
	pending := s.uncached
	switch cmd.Op {
	case command.OpClient, command.OpQuit, command.OpReset, command.OpMulti:
		return false
	case command.OpExec, command.OpDiscard:
		pending = false
	}
	if !s.multi.open || !pending {
		s.uncached = false
	}
	return pending
}
