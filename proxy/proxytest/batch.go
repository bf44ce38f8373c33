package proxytest

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
	"github.com/quolldb/quoll/ring"
)

// runBatch executes commands on keys of one slot, as a node does.
func (c *Cluster) runBatch(req *command.Request) []byte {
	b, err := command.ParseBatch(req)
	if err != nil {
		return resp.AppendError(nil, "ERR "+err.Error())
	}
	for _, w := range b.Watched {
		if !bytes.Equal(w.Version, c.version(w.Key)) {
			return resp.AppendNullArray(nil, req.RESP3)
		}
	}
	var reply []byte
	if b.Array {
		reply = resp.AppendArray(nil, len(b.Commands))
	}
	for i := range b.Commands {
		reply = append(reply, c.runWhole(req.Args[1], &b.Commands[i])...)
	}
	return reply
}

// runWhole executes a command of a batch, which may be of several keys.
func (c *Cluster) runWhole(key []byte, req *command.Request) []byte {
	keys, _ := command.ByOp(req.Op).AllKeys(req.Args)
	for _, k := range keys {
		if ring.SlotOf(k) != ring.SlotOf(key) {
			return resp.AppendError(nil, "ERR the keys of this batch are in different slots")
		}
	}
	single := func(op command.Op, args ...[]byte) []byte {
		return c.run(command.Request{Op: op, RESP3: req.RESP3, Args: append([][]byte{req.Args[0]}, args...)})
	}
	var reply []byte
	switch req.Op {
	case command.OpWatched:
		return resp.AppendBulk(nil, c.version(req.Args[1]))
	case command.OpMSet:
		for i := 1; i < len(req.Args); i += 2 {
			reply = single(command.OpSet, req.Args[i], req.Args[i+1])
		}
	case command.OpMGet:
		reply = resp.AppendArray(nil, len(keys))
		for _, k := range keys {
			reply = append(reply, single(command.OpGet, k)...)
		}
	case command.OpDel, command.OpUnlink, command.OpExists, command.OpTouch:
		n := int64(0)
		for _, k := range keys {
			if single(req.Op, k)[1] == '1' {
				n++
			}
		}
		reply = resp.AppendInt(nil, n)
	case command.OpCopy:
		reply = c.runCopy(req.Args)
	case command.OpMoveKey:
		if reply = c.runCopy(req.Args); reply[1] == '1' {
			c.remove(string(req.Args[1]))
		}
	default:
		reply = c.run(*req)
	}
	return reply
}

// runCopy copies a key. The only option that it looks at is REPLACE, as the first one.
func (c *Cluster) runCopy(args [][]byte) []byte {
	value, exists := c.Data[string(args[1])]
	_, there := c.Data[string(args[2])]
	if !exists || there && len(args) == 3 {
		return boolReply(false)
	}
	c.set(string(args[2]), value)
	return boolReply(true)
}

// version is what a node says of a watched key.
func (c *Cluster) version(key []byte) []byte {
	return strconv.AppendUint(nil, c.versions[string(key)], 10)
}

func (c *Cluster) set(key, value string) {
	c.Data[key] = value
	c.changed(key)
}

func (c *Cluster) remove(key string) {
	if _, exists := c.Data[key]; exists {
		delete(c.Data, key)
		c.changed(key)
	}
}

// changed counts that a key has changed, and tells whoever watches it.
func (c *Cluster) changed(key string) {
	c.versions[key]++
	c.changes++
	for _, w := range c.watches {
		_, name := database.Split([]byte(key))
		switch {
		case w.told != nil && strings.HasPrefix(string(name), w.key):
			w.changed = append(w.changed, route.Changed{Slot: ring.SlotOf([]byte(key)), Version: record.Version{Seq: c.changes}, Key: name})
		case w.told == nil && w.key == key:
			go w.tell()
		}
	}
}
