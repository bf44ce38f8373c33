package session

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
	"github.com/quolldb/quoll/proxy/topology"
	"github.com/quolldb/quoll/ring"
)

// A client that has come by a replica port is READONLY from the start, and speaks with a replica: what that does not do, as a replica of Redis, a master does.

// errReplicaWrites is Redis' error for what writes, and has no keys by which a client could be sent to a master.
var errReplicaWrites = route.Refuse("READONLY You can't write against a read only replica.")

// servedByReplica reports whether a command is one that a replica executes for the client: it reads keys. The client may take what is old, or this node asks the others.
func (s *Session) servedByReplica(cmd *command.Command, args [][]byte) bool {
	called := cmd.Called(args)
	return s.readonly && called != nil && called.Flags&command.FlagReadOnly != 0
}

// slotElsewhere returns a slot of a command on keys of several ones that a replica does not execute. At its home, a master, it is executed.
func (s *Session) slotElsewhere(cmd *command.Command, args [][]byte) (slot uint16, ok bool) {
	called := cmd.Called(args)
	if called == nil || cmd.Route == command.RouteUnsupported || cmd.Op == command.OpWatch || cmd.Flags&command.FlagPubSub != 0 || s.servedByReplica(cmd, args) {
		return 0, false
	}
	keys, ok := called.AllKeys(args)
	if !ok || len(keys) == 0 {
		return 0, false
	}
	return ring.SlotOf(keys[0]), true
}

// refusedAtReplica refuses what writes and has no keys: who has keys was sent elsewhere. It reports whether it did.
func (s *Session) refusedAtReplica(cmd *command.Command, args [][]byte) bool {
	called := cmd.Called(args)
	if called == nil || cmd.Route == command.RouteUnsupported || called.Flags&command.FlagWrite == 0 {
		return false
	}
	s.reject(cmd, args, errReplicaWrites)
	return true
}

// notQueuedAtReplica refuses for a transaction what a replica does not do, and reports whether it did. As in Redis the transaction is not executed then.
func (s *Session) notQueuedAtReplica(cmd *command.Command, args [][]byte) bool {
	named, problem := s.named(cmd, s.multi.database, args)
	return problem == "" && (s.moved(cmd, named) || s.refusedAtReplica(cmd, args))
}

// role is what this is to the client: a master, or a replica, for which Redis has two words.
func (s *Session) role(replica string) string {
	if s.replica {
		return replica
	}
	return "master"
}

// replication is who is whose replica: the master of the one that the client speaks with, if that is a replica, else its own replicas.
func (s *Session) replication() (master *topology.Member, replicas []topology.Member) {
	if s.service.cfg.Topology == nil {
		return nil, nil
	}
	all := s.members()
	self := &all[slices.IndexFunc(all, func(m topology.Member) bool { return m.Self })]
	if self.Master != "" {
		return &all[slices.IndexFunc(all, func(m topology.Member) bool { return m.ID == self.Master })], nil
	}
	for _, r := range self.Replicas {
		replicas = append(replicas, all[r])
	}
	return nil, replicas
}

// runRole is ROLE. There are no offsets here.
func runRole(s *Session, dst []byte, _ [][]byte) []byte {
	master, replicas := s.replication()
	if master != nil {
		dst = resp.AppendBulk(resp.AppendBulk(resp.AppendArray(dst, 5), "slave"), master.Host)
		return resp.AppendInt(resp.AppendBulk(resp.AppendInt(dst, int64(master.Port)), "connected"), 0)
	}
	dst = resp.AppendInt(resp.AppendBulk(resp.AppendArray(dst, 3), "master"), 0)
	dst = resp.AppendArray(dst, len(replicas))
	for _, r := range replicas {
		dst = resp.AppendBulk(resp.AppendBulk(resp.AppendBulk(resp.AppendArray(dst, 3), r.Host), strconv.Itoa(r.Port)), "0")
	}
	return dst
}

// infoReplication is a section of INFO.
func infoReplication(s *Session) []infoField {
	fields := []infoField{{"role", s.role("slave")}}
	master, replicas := s.replication()
	if master != nil {
		fields = append(fields, infoField{"master_host", master.Host}, infoField{"master_port", strconv.Itoa(master.Port)}, infoField{"master_link_status", "up"},
			infoField{"master_last_io_seconds_ago", "0"}, infoField{"master_sync_in_progress", "0"}, infoField{"slave_repl_offset", "0"}, infoField{"slave_priority", "100"},
			infoField{"slave_read_only", "1"})
	}
	fields = append(fields, infoField{"connected_slaves", strconv.Itoa(len(replicas))})
	for i, r := range replicas {
		fields = append(fields, infoField{fmt.Sprint("slave", i), fmt.Sprintf("ip=%s,port=%d,state=online,offset=0,lag=0", r.Host, r.Port)})
	}
	return append(fields, infoField{"master_repl_offset", "0"})
}
