package session

import (
	"fmt"
	"slices"
	"time"

	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
)

// clientFilter chooses clients for CLIENT LIST and CLIENT KILL.
type clientFilter struct {
	ids []int64
	// addr and laddr are nil for any address.
	addr, laddr []byte
	// user is nil for any user.
	user []byte
	// none: only clients that Quoll does not have, such as replicas, would match.
	none   bool
	skipMe bool
	// kind, if there is one, is "pubsub" for clients that subscribe, "normal" for others.
	kind string
}

// matches reports whether s, asked for by the session me, is chosen.
func (f *clientFilter) matches(s, me *Session) bool {
	switch {
	case f.none,
		f.skipMe && s == me,
		f.kind != "" && (f.kind == "pubsub") != s.info.subscribes(),
		len(f.ids) > 0 && !slices.Contains(f.ids, s.conn.ID()),
		f.user != nil && string(f.user) != s.info.user.Load().Name,
		f.addr != nil && string(f.addr) != s.conn.RemoteAddr().String(),
		f.laddr != nil && string(f.laddr) != s.conn.LocalAddr().String():
		return false
	}
	return true
}

// clientList is CLIENT LIST [TYPE type] [ID id ...].
func clientList(s *Session, dst []byte, args [][]byte) []byte {
	var filter clientFilter
	var err error
	switch {
	case len(args) == 2:
	case len(args) == 4 && is(args[2], "TYPE"):
		err = filter.setType(args[3])
	case len(args) > 3 && is(args[2], "ID"):
		for _, arg := range args[3:] {
			id, ok := resp.ParseInt(arg)
			if !ok {
				err = route.Refuse("ERR Invalid client ID")
			}
			filter.ids = append(filter.ids, id)
		}
	default:
		err = errSyntax
	}
	if err != nil {
		return route.AppendReply(dst, err)
	}
	var list []byte
	now := time.Now()
	for _, client := range s.all() {
		if filter.matches(client, s) {
			var pending [][]byte
			if client == s {
				pending = args
			}
			list = client.describe(list, now, pending)
		}
	}
	return resp.AppendVerbatim(dst, string(list), s.resp3)
}

// clientKill is CLIENT KILL, in its old form (an address) and the new one (filters).
// A client that kills itself gets the reply first.
func clientKill(s *Session, dst []byte, args [][]byte) []byte {
	old := len(args) == 3
	filter := clientFilter{addr: args[2]}
	if !old {
		var err error
		if filter, err = parseKill(s, args[2:]); err != nil {
			return route.AppendReply(dst, err)
		}
	}
	killed := 0
	for _, client := range s.all() {
		if !filter.matches(client, s) {
			continue
		}
		killed++
		if client == s {
			s.conn.Quit()
		} else {
			client.conn.HangUp()
		}
	}
	switch {
	case !old:
		return resp.AppendInt(dst, int64(killed))
	case killed == 0:
		return route.AppendReply(dst, route.Refuse("ERR No such client"))
	}
	return append(dst, resp.OK...)
}

// parseKill reads pairs of option and value.
func parseKill(me *Session, options [][]byte) (f clientFilter, err error) {
	f.skipMe = true
	for ; len(options) > 0 && err == nil; options = options[2:] {
		if len(options) == 1 {
			return f, errSyntax
		}
		name, value := options[0], options[1]
		switch {
		case is(name, "ID"):
			err = f.setID(value)
		case is(name, "ADDR"):
			f.addr = value
		case is(name, "LADDR"):
			f.laddr = value
		case is(name, "TYPE"):
			err = f.setType(value)
		case is(name, "USER"):
			if f.user = value; me.service.users.now.Load().Get(value) == nil {
				err = route.Refuse(fmt.Sprintf("ERR No such user '%s'", shown(value)))
			}
		case is(name, "SKIPME") && is(value, "YES"):
			f.skipMe = true
		case is(name, "SKIPME") && is(value, "NO"):
			f.skipMe = false
		default:
			err = errSyntax
		}
	}
	return f, err
}

func (f *clientFilter) setID(value []byte) error {
	id, ok := resp.ParseInt(value)
	if !ok || id < 1 {
		return route.Refuse("ERR client-id should be greater than 0")
	}
	f.ids = []int64{id}
	return nil
}

// setType chooses by type.
func (f *clientFilter) setType(value []byte) error {
	switch {
	case is(value, "NORMAL"):
		f.kind = "normal"
	case is(value, "PUBSUB"):
		f.kind = "pubsub"
	case is(value, "MASTER"), is(value, "REPLICA"), is(value, "SLAVE"):
		f.none = true
	default:
		return route.Refuse(fmt.Sprintf("ERR Unknown client type '%s'", shown(value)))
	}
	return nil
}
