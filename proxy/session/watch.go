package session

import (
	"bytes"
	"slices"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
	"github.com/quolldb/quoll/ring"
)

// watches are the keys that a client watches, all of one slot, and what the cluster said of each when it was asked for the first time.
type watches struct {
	list  []command.Watched
	have  map[string]struct{} // of these
	bytes int
	// lost: some could not be watched, so that EXEC is refused.
	lost bool
}

// watchAgain is how often WATCH asks again for keys that had just expired. One that is set to expire at once all the time counts as changed.
const watchAgain = 3

var (
	watchedName = []byte("WATCHED")
	errWatch    = route.Refuse("ERR a node answered WATCH with what is no version of a key; proxy and nodes may be of different versions")
)

// runWatch is WATCH key [key ...], https://redis.io/commands/watch/.
func runWatch(s *Session, dst []byte, args [][]byte) []byte {
	if err := s.watch(args[1:]); err != nil {
		s.watches.lost = true
		return route.AppendReply(dst, err)
	}
	return append(dst, resp.OK...)
}

// watch asks for the versions of those keys that are not watched yet.
func (s *Session) watch(keys [][]byte) error {
	w := &s.watches
	all, size := keys[0], 0
	if len(w.list) > 0 {
		all = w.list[0].Key
	}
	fresh, _ := distinct(keys)
	asked := fresh[:0]
	for _, key := range fresh {
		if ring.SlotOf(key) != ring.SlotOf(all) {
			return errSlots([][]byte{all, key})
		}
		if _, watched := w.have[string(key)]; !watched {
			asked = append(asked, key)
			size += keptKey + 2*len(key)
		}
	}
	switch {
	case len(asked) == 0:
		return nil
	case s.kept()+size > maxKeptBytes:
		return errTooMuchKept
	}
	versions, err := s.versions(asked)
	for range watchAgain {
		if err != nil || !slices.ContainsFunc(versions, func(v []byte) bool { return len(v) == 0 }) {
			break
		}
		versions, err = s.versions(asked) // some had just expired
	}
	if err != nil {
		return err
	}
	if w.have == nil {
		w.have = make(map[string]struct{})
	}
	for i, key := range asked {
		w.list = append(w.list, command.Watched{Key: bytes.Clone(key), Version: versions[i]})
		w.have[string(key)] = struct{}{}
	}
	w.bytes += size
	s.info.watching.Store(int64(len(w.list)))
	s.keep()
	return nil
}

// versions asks the cluster for what tells later whether these keys, which are of one slot, have changed.
func (s *Session) versions(keys [][]byte) ([][]byte, error) {
	b := command.Batch{Array: len(keys) > 1}
	for _, key := range keys {
		b.Commands = append(b.Commands, command.Request{Op: command.OpWatched, Args: [][]byte{watchedName, key}})
	}
	op := s.execute(b.Request(keys[0], s.resp3), false)
	reply := op.Reply
	switch {
	case op.Outcome == answer.Unknown: // nothing was to be written
		return nil, route.ErrTimeout
	case len(reply) > 0 && reply[0] == '-':
		return nil, &route.ReplyError{Outcome: op.Outcome, Text: string(errorText(reply))}
	}
	if b.Array {
		_, reply, _ = bytes.Cut(reply, crlf)
	}
	versions := make([][]byte, len(keys))
	for i := range versions {
		size := resp.Size(reply)
		kind, version := resp.Value(reply[:size])
		if kind != '$' || version == nil {
			return nil, errWatch
		}
		versions[i], reply = bytes.Clone(version), reply[size:]
	}
	return versions, nil
}

// runUnwatch is UNWATCH. Within a transaction there is nothing left of it to be done: EXEC has ended the watching.
func runUnwatch(s *Session, dst []byte, _ [][]byte) []byte {
	s.forgetWatches()
	return append(dst, resp.OK...)
}

func (s *Session) forgetWatches() {
	s.watches = watches{}
	s.info.watching.Store(0)
	s.keep()
}
