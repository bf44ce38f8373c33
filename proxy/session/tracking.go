package session

import (
	"slices"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
)

// tracking is what a connection has asked for with CLIENT TRACKING: to be told when keys change that it has read, since it keeps what it read. See https://redis.io/docs/latest/develop/use/client-side-caching/.
type tracking struct {
	on bool
	// broadcast: of all keys that begin so, whether it reads them or not.
	broadcast bool
	prefixes  []string
	// optIn: only what is read behind CLIENT CACHING YES; optOut: all but what is read behind CLIENT CACHING NO.
	optIn, optOut bool
	// noLoop: not of what the client itself writes.
	noLoop bool
	// to is the client that is told instead, 0 for none.
	to int64
	// caching: CLIENT CACHING has come, and counts for the next command, or transaction.
	caching bool
}

// tracks reports whether the client is to be told of what it reads now.
func (t *tracking) tracks() bool {
	return t.on && !t.broadcast && (!t.optIn || t.caching) && (!t.optOut || !t.caching)
}

var (
	errPrefix      = route.Refuse("ERR PREFIX option requires BCAST mode to be enabled")
	errOneRedirect = route.Refuse("ERR A client can only redirect to a single other client")
	errNoRedirect  = route.Refuse("ERR The client ID you want redirect to does not exist")
	errSwitchMode  = route.Refuse("ERR You can't switch BCAST mode on/off before disabling tracking for this client, and then re-enabling it with a different mode.")
	errOptAndAll   = route.Refuse("ERR OPTIN and OPTOUT are not compatible with BCAST")
	errInAndOut    = route.Refuse("ERR You can't specify both OPTIN mode and OPTOUT mode")
	errSwitchOpt   = route.Refuse("ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and then re-enabling it with a different mode.")

	errCachingWithout = route.Refuse("ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled")
	errCachingYes     = route.Refuse("ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.")
	errCachingNo      = route.Refuse("ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.")
	errCachingInside  = route.Refuse("ERR CLIENT CACHING cannot be in a transaction with Quoll: send it before MULTI; nothing was done")
)

// clientTracking is CLIENT TRACKING ON|OFF [REDIRECT id] [BCAST] [PREFIX prefix ...] [OPTIN] [OPTOUT] [NOLOOP].
func clientTracking(s *Session, dst []byte, args [][]byte) []byte {
	t, err := s.trackingOptions(args[3:])
	switch {
	case err != nil:
	case is(args[2], "OFF"):
		t = tracking{}
	case !is(args[2], "ON"):
		err = errSyntax
	default:
		t.on = true
		err = s.mayTrack(&t)
	}
	if err != nil {
		return route.AppendReply(dst, err)
	}
	s.setTracking(t)
	return append(dst, resp.OK...)
}

// mayTrack refuses what does not go together, in the order of Redis. Prefixes that the client has it keeps.
func (s *Session) mayTrack(t *tracking) error {
	now := &s.tracking
	switch {
	case !t.broadcast && len(t.prefixes) > 0:
		return errPrefix
	case now.on && now.broadcast != t.broadcast:
		return errSwitchMode
	case t.broadcast && (t.optIn || t.optOut):
		return errOptAndAll
	case t.optIn && t.optOut:
		return errInAndOut
	case now.on && (now.optIn && t.optOut || now.optOut && t.optIn):
		return errSwitchOpt
	case !t.broadcast:
		return nil
	}
	if err := overlap(now.prefixes, t.prefixes); err != nil {
		return err
	}
	if len(t.prefixes) == 0 && !slices.Contains(now.prefixes, "") {
		t.prefixes = []string{""}
	}
	t.prefixes = append(slices.Clone(now.prefixes), t.prefixes...)
	return nil
}

// trackingOptions reads the options of CLIENT TRACKING.
func (s *Session) trackingOptions(options [][]byte) (t tracking, err error) {
	for i := 0; i < len(options); i++ {
		more := i+1 < len(options)
		switch option := options[i]; {
		case is(option, "REDIRECT") && more:
			i++
			id, ok := resp.ParseInt(options[i])
			switch {
			case t.to != 0:
				return t, errOneRedirect
			case !ok:
				return t, errNotInteger
			case s.client(id) == nil:
				return t, errNoRedirect
			}
			t.to = id
		case is(option, "PREFIX") && more:
			i++
			t.prefixes = append(t.prefixes, string(options[i]))
		case is(option, "BCAST"):
			t.broadcast = true
		case is(option, "OPTIN"):
			t.optIn = true
		case is(option, "OPTOUT"):
			t.optOut = true
		case is(option, "NOLOOP"):
			t.noLoop = true
		default:
			return t, errSyntax
		}
	}
	return t, nil
}

// setTracking changes what the client is told of.
func (s *Session) setTracking(t tracking) {
	had := s.tracking.prefixes
	s.tracking = t
	s.info.set(func(c *clientInfo) { c.tracking = t })
	if t.broadcast {
		s.service.broadcasts.add(s, t.prefixes[len(had):])
	} else {
		s.service.broadcasts.remove(s, had)
	}
}

// clientTrackingInfo is CLIENT TRACKINGINFO.
func clientTrackingInfo(s *Session, dst []byte, _ [][]byte) []byte {
	t := s.tracking
	flags := []string{"off"}
	if t.on {
		flags[0] = "on"
	}
	for _, flag := range []struct {
		name string
		set  bool
	}{
		{"bcast", t.broadcast}, {"optin", t.optIn}, {"caching-yes", t.optIn && t.caching}, {"optout", t.optOut}, {"caching-no", t.optOut && t.caching}, {"noloop", t.noLoop},
		{"broken_redirect", t.to != 0 && s.client(t.to) == nil},
	} {
		if flag.set {
			flags = append(flags, flag.name)
		}
	}
	dst = resp.AppendMap(dst, 3, s.resp3)
	dst = resp.AppendSet(resp.AppendBulk(dst, "flags"), len(flags), s.resp3)
	for _, flag := range flags {
		dst = resp.AppendBulk(dst, flag)
	}
	dst = resp.AppendInt(resp.AppendBulk(dst, "redirect"), t.redirect())
	dst = resp.AppendArray(resp.AppendBulk(dst, "prefixes"), len(t.prefixes))
	for _, prefix := range t.prefixes {
		dst = resp.AppendBulk(dst, prefix)
	}
	return dst
}

// clientGetRedir is CLIENT GETREDIR: to whom it is said that keys have changed.
func clientGetRedir(s *Session, dst []byte, _ [][]byte) []byte {
	return resp.AppendInt(dst, s.tracking.redirect())
}

// redirect is who is told, 0 for the connection itself, and -1 for nobody, as Redis has it.
func (t *tracking) redirect() int64 {
	if t.on {
		return t.to
	}
	return -1
}

// clientCaching is CLIENT CACHING YES|NO.
func clientCaching(s *Session, dst []byte, args [][]byte) []byte {
	t := &s.tracking
	var err error
	switch {
	case !t.on:
		err = errCachingWithout
	case is(args[2], "YES") && !t.optIn:
		err = errCachingYes
	case is(args[2], "NO") && !t.optOut:
		err = errCachingNo
	case !is(args[2], "YES") && !is(args[2], "NO"):
		err = errSyntax
	}
	if err != nil {
		return route.AppendReply(dst, err)
	}
	t.caching = true
	return append(dst, resp.OK...)
}

// cached is called when a command has been planned or executed: what CLIENT CACHING said was for it, or is for the transaction that it is part of.
func (s *Session) cached(cmd *command.Command) {
	if s.tracking.caching && cmd.Op != command.OpClient && !s.multi.open {
		s.tracking.caching = false
	}
}

// track sees to it that the client is told when a key changes that a command reads, from before it is read. A key that cannot be watched is executed on at once, and then said to have changed.
func (s *Session) track(cmd *command.Command, args [][]byte) {
	called := cmd.Called(args)
	if called == nil || !called.OnKeys() || !cmd.ArityOK(len(args)) {
		return
	}
	_, readsOnly := cmd.ReadingOp(args)
	reads := readsOnly || called.Flags&command.FlagReadOnly != 0 || isScript(cmd.Op)
	keys, _ := called.AllKeys(args)
	switch {
	case reads && s.tracking.tracks():
		s.service.tracked.add(s, keys)
	case s.tracking.noLoop && cmd.Writes():
		s.service.tracked.forget(s.conn.ID(), keys)
	}
}

// invalidated tells the client, or the one that it said, that it must not use any more what it knows of keys, or of any, for nil.
func (s *Session) invalidated(keys []string) {
	t := s.info.tracks()
	to := s
	if t.to != 0 {
		to = s.client(t.to)
	}
	switch {
	case !t.on:
	case to == nil:
		s.redirectBroken(t.to)
	default:
		to.pushInvalid(keys)
	}
}

// client returns the session of a client of the same proxy, nil if there is none of that ID, or if it has quit.
func (s *Session) client(id int64) *Session {
	conn := s.conn.Server().Conn(id)
	if conn == nil {
		return nil
	}
	if client := conn.Session().(*Session); !client.info.hasQuit() {
		return client
	}
	return nil
}

// redirectBroken tells a client that the one is gone that was to be told.
func (s *Session) redirectBroken(to int64) {
	if s.info.speaksRESP3() {
		message := resp.AppendBulk([]byte(">2\r\n"), "tracking-redir-broken")
		s.conn.Push(resp.AppendInt(message, to))
	}
}

// invalidChannel is the channel on which a client of RESP2 hears of keys that have changed.
const invalidChannel = "__redis__:invalidate"

// pushInvalid pushes that keys must not be used any more: as a push of RESP3, or to a client of RESP2 as a message, if it subscribes to those.
func (s *Session) pushInvalid(keys []string) {
	var message []byte
	switch {
	case s.info.speaksRESP3():
		message = resp.AppendBulk([]byte(">2\r\n"), "invalidate")
	case s.service.subscribers.hears(s, protocol.OfChannel, invalidChannel):
		message = resp.AppendBulk(resp.AppendBulk(resp.AppendArray(nil, 3), "message"), invalidChannel)
	default:
		return
	}
	if keys == nil {
		s.conn.Push(resp.AppendNull(message, s.info.speaksRESP3()))
		return
	}
	message = resp.AppendArray(message, len(keys))
	for _, key := range keys {
		message = resp.AppendBulk(message, key)
	}
	s.conn.Push(message)
}

// clientsThatTrack is how many clients are told of keys.
func (s *Session) clientsThatTrack() (n int64) {
	for _, client := range s.all() {
		if t := client.info.tracks(); t.on {
			n++
		}
	}
	return n
}
