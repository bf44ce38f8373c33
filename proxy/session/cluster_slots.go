package session

import (
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/topology"
)

// clusterSlots is CLUSTER SLOTS: which server has which slots, and which replica ports, or to a client that is READONLY, who else holds them.
func clusterSlots(s *Session, dst []byte, _ [][]byte) []byte {
	all, ranges := s.members(), 0
	for _, m := range all {
		ranges += len(m.Slots)
	}
	dst = resp.AppendArray(dst, ranges)
	for _, m := range all {
		for _, slots := range m.Slots {
			replicas := s.followers(&m, slots.Replicas)
			dst = resp.AppendInt(resp.AppendInt(resp.AppendArray(dst, 3+len(replicas)), int64(slots.First)), int64(slots.End-1))
			dst = appendOfSlots(dst, &m)
			for _, r := range replicas {
				dst = appendOfSlots(dst, &all[r])
			}
		}
	}
	return dst
}

// followers returns the replicas of a master that a client is told of: replica ports, or else nodes, if they may answer it. Each node is a master, too, and a library that meets one in both parts may take it for a replica only: so they are not shown to
// clients that do not read from them.
func (s *Session) followers(m *topology.Member, nodes []int16) []int16 {
	if len(m.Replicas) > 0 || !s.readonly {
		return m.Replicas
	}
	return nodes
}

// appendOfSlots appends a server as CLUSTER SLOTS shows it.
func appendOfSlots(dst []byte, m *topology.Member) []byte {
	dst = resp.AppendInt(resp.AppendBulk(resp.AppendArray(dst, 4), m.Host), int64(m.Port))
	return resp.AppendArray(resp.AppendBulk(dst, m.ID), 0)
}

// clusterShards is CLUSTER SHARDS. A replica of a shard is who holds all of its slots.
func clusterShards(s *Session, dst []byte, _ [][]byte) []byte {
	all := s.members()
	masters := s.masters(all)
	dst = resp.AppendArray(dst, len(masters))
	for _, m := range masters {
		dst = resp.AppendBulk(resp.AppendMap(dst, 2, s.resp3), "slots")
		dst = resp.AppendArray(dst, 2*len(m.Slots))
		for _, slots := range m.Slots {
			dst = resp.AppendInt(resp.AppendInt(dst, int64(slots.First)), int64(slots.End-1))
		}
		replicas := s.followers(&m, m.Followers())
		dst = resp.AppendArray(resp.AppendBulk(dst, "nodes"), 1+len(replicas))
		dst = s.appendOfShard(dst, &m, "master")
		for _, r := range replicas {
			dst = s.appendOfShard(dst, &all[r], "replica")
		}
	}
	return dst
}

// appendOfShard appends a server as CLUSTER SHARDS shows it.
func (s *Session) appendOfShard(dst []byte, m *topology.Member, role string) []byte {
	dst = resp.AppendMap(dst, 7, s.resp3)
	dst = resp.AppendBulk(resp.AppendBulk(dst, "id"), m.ID)
	dst = resp.AppendInt(resp.AppendBulk(dst, "port"), int64(m.Port))
	dst = resp.AppendBulk(resp.AppendBulk(dst, "ip"), m.Host)
	dst = resp.AppendBulk(resp.AppendBulk(dst, "endpoint"), m.Host)
	dst = resp.AppendBulk(resp.AppendBulk(dst, "role"), role)
	dst = resp.AppendInt(resp.AppendBulk(dst, "replication-offset"), 0)
	health := "online"
	if !m.Alive {
		health = "fail"
	}
	return resp.AppendBulk(resp.AppendBulk(dst, "health"), health)
}
