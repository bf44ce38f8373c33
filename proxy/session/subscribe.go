package session

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/front"
	"github.com/quolldb/quoll/proxy/route"
)

// subscriptions are what a client subscribes to.
type subscriptions struct {
	names [protocol.InterestKinds]map[string]struct{}
	count int
	bytes int // of memory, about
	// resp3 is the session's, for those who push.
	resp3 atomic.Bool
}

// keptSubscription is about what a subscription takes beside its name, here and in the proxy's table.
const keptSubscription = 200

// kindOf returns what the names of a command are.
func kindOf(op command.Op) protocol.InterestKind {
	switch op {
	case command.OpPSubscribe, command.OpPUnsubscribe:
		return protocol.OfPattern
	case command.OpSSubscribe, command.OpSUnsubscribe:
		return protocol.OfShardChannel
	}
	return protocol.OfChannel
}

// confirms reports whether a reply is a message of (P|S)SUBSCRIBE or (P|S)UNSUBSCRIBE, which CLIENT REPLY does not silence.
func confirms(op command.Op, reply []byte) bool {
	return command.OpSubscribe <= op && op <= command.OpSUnsubscribe && len(reply) > 0 && (reply[0] == '*' || reply[0] == '>')
}

// whileSubscribed reports whether a client of RESP2 that subscribes may send a command: the replies of others could be taken for messages.
func whileSubscribed(op command.Op) bool {
	switch op {
	case command.OpPing, command.OpQuit, command.OpReset:
		return true
	}
	return command.OpSubscribe <= op && op <= command.OpSUnsubscribe
}

// notWhileSubscribed is the error for the others.
func notWhileSubscribed(cmd *command.Command, args [][]byte) error {
	if c := containers[cmd.Op]; c != nil {
		if _, err := c.find(args); err != nil {
			return err
		}
	}
	name := cmd.Name
	if called := cmd.Called(args); called != nil {
		name = called.Name
	}
	return route.Refuse(fmt.Sprintf("ERR Can't execute '%s': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context", name))
}

// errLongName is the error for a name of a channel, or a pattern, that is too long.
var errLongName = route.Refuse(fmt.Sprintf("ERR names of channels and patterns may have %d bytes; nothing was done", protocol.MaxName))

// runSubscribe is SUBSCRIBE, PSUBSCRIBE and SSUBSCRIBE. It is confirmed when all nodes know of it: what is published from then on is heard.
func runSubscribe(s *Session, dst []byte, args [][]byte) []byte {
	cmd := command.Lookup(args[0])
	kind, mine := kindOf(cmd.Op), s.subs.names[kindOf(cmd.Op)]
	if mine == nil {
		mine = map[string]struct{}{}
		s.subs.names[kind] = mine
	}
	if slices.ContainsFunc(args[1:], func(name []byte) bool { return len(name) > protocol.MaxName }) {
		return route.AppendReply(dst, errLongName)
	}
	var added []string
	for _, arg := range args[1:] {
		if _, there := mine[string(arg)]; !there {
			name := string(arg)
			mine[name] = struct{}{}
			added = append(added, name)
		}
	}
	if len(added) > 0 {
		s.conn.LimitOutput(front.PubSubLimit)
		wait, err := s.service.subscribers.add(s, s.service.cluster, kind, added)
		if err != nil {
			for _, name := range added {
				delete(mine, name)
			}
			s.show(kind)
			return route.AppendReply(dst, err)
		}
		wait()
		s.endIfForbidden()
	}
	before := s.listed(kind) - len(added)
	isNew := make(map[string]struct{}, len(added))
	for _, name := range added {
		isNew[name] = struct{}{}
		s.subscribed(1, len(name)+keptSubscription)
	}
	s.show(kind)
	for _, arg := range args[1:] {
		if _, first := isNew[string(arg)]; first {
			delete(isNew, string(arg))
			before++
		}
		dst = s.confirm(dst, cmd.Name, arg, before)
	}
	return dst
}

// endIfForbidden ends the connection if the user has lost a channel since the command was checked. Whoever has changed the user may not have seen that it listens.
func (s *Session) endIfForbidden() {
	if s.who.set == s.service.users.now.Load() {
		return
	}
	s.followUsers()
	for kind, names := range s.subs.names {
		for name := range names {
			if !s.who.user.PermitsChannel([]byte(name), protocol.InterestKind(kind) == protocol.OfPattern) {
				s.conn.Break()
			}
		}
	}
}

// runUnsubscribe is UNSUBSCRIBE, PUNSUBSCRIBE and SUNSUBSCRIBE.
func runUnsubscribe(s *Session, dst []byte, args [][]byte) []byte {
	cmd := command.Lookup(args[0])
	kind, names := kindOf(cmd.Op), args[1:]
	mine := s.subs.names[kind]
	if len(names) == 0 {
		for _, name := range slices.Sorted(maps.Keys(mine)) {
			names = append(names, []byte(name))
		}
	}
	removed := map[string]struct{}{}
	for _, name := range names {
		if _, there := mine[string(name)]; there {
			removed[string(name)] = struct{}{}
		}
	}
	left := s.listed(kind)
	s.unsubscribe(kind, slices.Collect(maps.Keys(removed)))
	if !s.multi.open {
		s.conn.Deliver() // what was heard before
	}
	for _, name := range names {
		if _, was := removed[string(name)]; was {
			delete(removed, string(name))
			left--
		}
		dst = s.confirm(dst, cmd.Name, name, left)
	}
	if len(names) == 0 {
		dst = resp.AppendBulk(appendPush(dst, 3, s.resp3), cmd.Name)
		dst = resp.AppendInt(resp.AppendNull(dst, s.resp3), int64(left))
	}
	return dst
}

// confirm appends the message that says that the client subscribes to a name, or does not any more, and to how many in all.
func (s *Session) confirm(dst []byte, what string, name []byte, all int) []byte {
	dst = resp.AppendBulk(appendPush(dst, 3, s.resp3), what)
	return resp.AppendInt(resp.AppendBulk(dst, name), int64(all))
}

// listed is how many names the client subscribes to, as confirmations of a kind say it: channels of shards are counted apart.
func (s *Session) listed(kind protocol.InterestKind) int {
	if kind == protocol.OfShardChannel {
		return len(s.subs.names[kind])
	}
	return len(s.subs.names[protocol.OfChannel]) + len(s.subs.names[protocol.OfPattern])
}

// unsubscribe ends subscriptions that there are. What is published at this proxy from then on is not counted as heard; other proxies may count it for a moment.
func (s *Session) unsubscribe(kind protocol.InterestKind, names []string) {
	if len(names) == 0 {
		return
	}
	s.service.subscribers.remove(s, s.service.cluster, kind, names)
	for _, name := range names {
		delete(s.subs.names[kind], name)
		s.subscribed(-1, -len(name)-keptSubscription)
	}
	s.show(kind)
}

// unsubscribeAll ends all subscriptions, and says so to nobody but the nodes.
func (s *Session) unsubscribeAll() {
	if s.subs.count == 0 {
		return
	}
	for kind, names := range s.subs.names {
		s.unsubscribe(protocol.InterestKind(kind), slices.Collect(maps.Keys(names)))
	}
}

// subscribed counts subscriptions that have come or gone.
func (s *Session) subscribed(n, bytes int) {
	s.subs.count += n
	s.subs.bytes += bytes
}

// show tells others, and the front, what the client subscribes to.
func (s *Session) show(kind protocol.InterestKind) {
	s.info.subscribed[kind].Store(int64(len(s.subs.names[kind])))
	s.conn.MayIdle(s.subs.count > 0)
	if s.subs.count == 0 {
		s.conn.LimitOutput(s.conn.Server().Config().OutputLimit)
	}
	s.keep()
}

// pubSubCommand is PUBSUB, whose HELP is as in Redis.
var pubSubCommand = container{name: "PUBSUB", subcommands: []subcommand{
	{"CHANNELS", -2, pubSubNames(false), []string{"CHANNELS [<pattern>]", "Return the currently active channels matching a <pattern> (default: '*')."}},
	{"NUMPAT", 2, pubSubPatterns, []string{"NUMPAT", "Return number of subscriptions to patterns."}},
	{"NUMSUB", -2, pubSubCounts(false), []string{"NUMSUB [<channel> ...]", "Return the number of subscribers for the specified channels, excluding",
		"pattern subscriptions(default: no channels)."}},
	{"SHARDCHANNELS", -2, pubSubNames(true), []string{"SHARDCHANNELS [<pattern>]", "Return the currently active shard level channels matching a <pattern> (default: '*')."}},
	{"SHARDNUMSUB", -2, pubSubCounts(true), []string{"SHARDNUMSUB [<shardchannel> ...]", "Return the number of subscribers for the specified shard level channel(s)"}},
}}

// pubSubNames is PUBSUB CHANNELS, or SHARDCHANNELS, [pattern].
func pubSubNames(shard bool) handler {
	return func(s *Session, dst []byte, args [][]byte) []byte {
		if len(args) > 3 {
			return route.AppendReply(dst, misused(strings.ToUpper(string(args[0])), args))
		}
		if len(args) == 3 && len(args[2]) > protocol.MaxName {
			return route.AppendReply(dst, errLongName)
		}
		a, err := s.ask(&protocol.PubSubQuestion{Query: protocol.QueryNames, Shard: shard, Names: args[2:]})
		if err != nil {
			return route.AppendReply(dst, err)
		}
		dst = resp.AppendArray(dst, len(a.Names))
		for _, name := range a.Names {
			dst = resp.AppendBulk(dst, name)
		}
		return dst
	}
}

// pubSubCounts is PUBSUB NUMSUB, or SHARDNUMSUB, [channel ...].
func pubSubCounts(shard bool) handler {
	return func(s *Session, dst []byte, args [][]byte) []byte {
		a, err := s.ask(&protocol.PubSubQuestion{Query: protocol.QueryCounts, Shard: shard, Names: args[2:]})
		if err == nil && len(a.Counts) != len(args)-2 {
			err = errPieces
		}
		if err != nil {
			return route.AppendReply(dst, err)
		}
		dst = resp.AppendMap(dst, len(a.Counts), false)
		for i, n := range a.Counts {
			dst = resp.AppendInt(resp.AppendBulk(dst, args[2+i]), int64(n))
		}
		return dst
	}
}

// pubSubPatterns is PUBSUB NUMPAT.
func pubSubPatterns(s *Session, dst []byte, _ [][]byte) []byte {
	a, err := s.ask(&protocol.PubSubQuestion{Query: protocol.QueryPatterns})
	if err == nil && len(a.Counts) != 1 {
		err = errPieces
	}
	if err != nil {
		return route.AppendReply(dst, err)
	}
	return resp.AppendInt(dst, int64(a.Counts[0]))
}

func (s *Session) ask(q *protocol.PubSubQuestion) (protocol.PubSubAnswer, error) {
	return s.service.cluster.PubSub(s.conn.Server().Context(), q)
}
