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

// What a command that is computed here reads. Keys of one slot are read at one moment, at the slot's home, as a batch; those of several slots each by itself. The home only copies what
// they hold: to put large collections together takes it many times as long (docs/performance.md), in which a part of its slots would stand still.

// reads plans a command as operations that read its keys, which are distinct, and of which there is at least one: as one that does so at one moment if the keys are in one slot.
func (p *plan) reads(cmd *command.Command, args [][]byte, reads []command.Request) {
	first := len(p.batch.Ops)
	if len(reads) > 1 && inOneSlot(reads) {
		p.batch.Add(readTogether(reads), false)
	} else {
		for i := range reads {
			p.batch.Add(reads[i], false)
		}
	}
	p.commands = append(p.commands, planned{cmd: cmd, args: args, first: first, count: len(p.batch.Ops) - first})
}

// inOneSlot reports whether all keys of operations are in one slot.
func inOneSlot(reads []command.Request) bool {
	slot := ring.SlotOf(reads[0].Args[1])
	return !slices.ContainsFunc(reads, func(r command.Request) bool { return ring.SlotOf(r.Args[1]) != slot })
}

// readTogether returns the operation that does several, which are on keys of one slot, at one moment.
func readTogether(reads []command.Request) command.Request {
	b := command.Batch{Array: true, Commands: reads}
	return b.Request(reads[0].Args[1], reads[0].RESP3)
}

// partsOf returns the operations of a command, one for each key: what was read together is taken apart.
func partsOf(ops []route.Op) []route.Op {
	whole := &ops[0]
	if len(ops) != 1 || whole.Req.Op != command.OpBatch || whole.Outcome != answer.Done || whole.Reply[0] == '-' {
		return ops
	}
	reads, err := command.ParseBatch(&whole.Req)
	if err == nil && isArray(whole.Reply) {
		_, rest, _ := bytes.Cut(whole.Reply, crlf)
		parts := make([]route.Op, len(reads.Commands))
		for i := range parts {
			size := resp.Size(rest)
			parts[i] = route.Op{Req: reads.Commands[i], Outcome: answer.Done, Reply: rest[:size:size]}
			rest = rest[size:]
		}
		if len(rest) == 0 && len(parts[len(parts)-1].Reply) > 0 {
			return parts
		}
	}
	return []route.Op{{Req: whole.Req, Outcome: answer.NotDone, Reply: route.AppendReply(nil, errPieces)}}
}

// fetchTogether reads all collections again, at one moment, of which some were too large to be read at once. Each may have grown a little meanwhile.
func (s *Session) fetchTogether(ops []route.Op) (all []route.Op, failure []byte) {
	weights, total := make([]int, len(ops)), 0
	for i := range ops {
		weights[i], _ = weightOf(ops[i].Reply)
		total += weights[i]
	}
	reads := make([]command.Request, len(ops))
	for i := range ops {
		args := ops[i].Req.Args
		reads[i] = s.readMembers(args[1], args[2], max(weights[i], gatherAtOnce/len(ops))+(gatherMost-total)/len(ops))
	}
	all = partsOf([]route.Op{s.execute(readTogether(reads), false)})
	if failure = failureOf(all, false); failure != nil {
		return nil, failure
	}
	total = 0
	grown := false
	for i := range all {
		n, tooLarge := weightOf(all[i].Reply)
		total, grown = total+n, grown || tooLarge
	}
	if grown {
		return nil, route.AppendReply(nil, errGatherMost(max(total, gatherMost+1)))
	}
	return all, nil
}
