package session

import (
	"fmt"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/proxy/route"
	"github.com/quolldb/quoll/ring"
)

// Transactions and scripts that read all keys of a database which is placed together, or delete them. Its keys are in one slot, so such a command is executed there, with the others. The node
// says that it misses the keys, and then the proxy lists them, and sends the batch again with all of them.

// errManyKeys is the error for a database with too many keys.
var errManyKeys = route.Refuse(fmt.Sprintf("ERR DBSIZE, KEYS, SCAN, RANDOMKEY and FLUSHDB are only executed in a transaction with other commands, or in a script, if the database has at most %d keys. "+
	"It has more; nothing was done. Send this command by itself, which is not atomic with the others", command.MostListed))

// wholeKey returns the name that stands for all keys of the database that a command is on, nil if it is no such command, or the database is not placed together.
func (s *Session) wholeKey(q *queued) []byte {
	if !q.cmd.ReadsAll() || q.refused {
		return nil
	}
	placed := s.service.cluster.Placements()
	if id := placed.ID(q.database); id.Together() && placed.Open(q.database) {
		return id.All()
	}
	return nil
}

// admitCluster decides whether a command of all slots can be executed with those before it: of a database that is placed together it can, if these are in its slot.
func (s *Session) admitCluster(q *queued) error {
	t := &s.multi
	all, one := s.wholeKey(q), t.anyKey(s)
	switch {
	case all != nil && one != nil && ring.SlotOf(all) == ring.SlotOf(one), all != nil && one == nil && t.everywhere == "":
		t.all, q.all = all, true
		return nil
	case t.asks || len(s.watches.list) > 0:
		if all != nil {
			return errSlots([][]byte{one, all})
		}
		return errEverywhere(q.cmd.Name)
	}
	t.everywhere, t.pieces = q.cmd.Name, true
	return nil
}

// anyKey returns a key of the transaction, or one that is watched for it, nil if there is none yet.
func (t *transaction) anyKey(s *Session) []byte {
	switch {
	case t.key != nil:
		return t.key
	case len(s.watches.list) > 0:
		return s.watches.list[0].Key
	}
	return t.all
}

// settleAll decides at EXEC who executes the commands on all keys of a database: the cluster, with the commands on keys, or if there are none, and nothing is watched, the proxy, as outside of a
// transaction.
func (s *Session) settleAll() {
	t := &s.multi
	if t.all == nil {
		return
	}
	if !t.asks && len(s.watches.list) == 0 || t.everywhere != "" {
		t.pieces = true
		return
	}
	for i := range t.queue {
		if q := &t.queue[i]; q.all {
			q.op, q.run = q.cmd.Op, nil
			t.writes = t.writes || q.cmd.Writes()
		}
	}
	t.asks = true
	if t.key == nil {
		t.key = t.all
	}
}

// listAll lists all keys of a database for a batch, if some of the keys that it misses is the name that stands for them.
func (s *Session) listAll(b *command.Batch, missing [][]byte) error {
	for _, key := range missing {
		id, is := database.AllOf(key)
		if !is {
			continue
		}
		names, listing, err := s.service.cluster.List(s.conn.Server().Context(), id, command.MostListed)
		if err != nil {
			return err
		}
		if len(names) > command.MostListed {
			return errManyKeys
		}
		b.Listing, b.Also = &listing, append(b.Also[:len(b.Also):len(b.Also)], names...)
	}
	return nil
}
