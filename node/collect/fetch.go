package collect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/register"
)

// copy copies the records of a page that are agreed on, each from a member that has shown its version. It returns the keys of which that one has
// another version by now.
func (r *run) copy(ctx context.Context, config *register.Config, d decision) (newer [][]byte, err error) {
	left := d.copies
	for _, member := range r.order(config) {
		var has, rest []register.Agreed
		for _, a := range left {
			if d.page.Shows(member, a) {
				has = append(has, a)
			} else {
				rest = append(rest, a)
			}
		}
		for len(has) > 0 {
			entries, failed := r.fetch(ctx, member, has)
			if failed != nil {
				r.late[member], err = true, errors.Join(err, failed)
				break
			}
			keys, failed := r.take(has, entries)
			if failed != nil {
				return nil, failed
			}
			newer, has = append(newer, keys...), has[len(entries):]
			if failed := r.c.pace(ctx); failed != nil {
				return nil, failed
			}
		}
		left = append(rest, has...)
	}
	if len(left) > 0 {
		return nil, fmt.Errorf("nobody gives what is agreed on: %w", err)
	}
	return newer, nil
}

// fetch asks a member for the records of some keys, and returns those of the first of them.
func (r *run) fetch(ctx context.Context, member uint16, agreed []register.Agreed) ([]protocol.CopyEntry, error) {
	p, err := r.c.peer(member)
	if err != nil {
		return nil, err
	}
	request := protocol.KeysRequest{Slot: r.slot, Epoch: r.epoch, Keys: make([][]byte, len(agreed))}
	for i, a := range agreed {
		request.Keys[i] = a.Key
	}
	payload, objects, err := p.AskObjects(ctx, protocol.MethodFetch, protocol.AppendKeysRequest(nil, request))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Name(), err)
	}
	page, err := protocol.DecodeCopyPage(payload, objects)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.Name(), err)
	}
	size := 0
	for i := range page.Entries {
		e := &page.Entries[i]
		size += len(e.Key) + e.State.Size()
		if i >= len(agreed) || !bytes.Equal(e.Key, agreed[i].Key) {
			return nil, fmt.Errorf("%s: %w: records of other keys", p.Name(), wire.ErrMalformed)
		}
	}
	if len(page.Entries) == 0 {
		return nil, fmt.Errorf("%s: %w: no record at all", p.Name(), wire.ErrMalformed)
	}
	r.c.bucket.take(size, time.Now())
	return page.Entries, nil
}

// take has the replica copy records that are what was agreed on, and returns the keys of which they are something else.
func (r *run) take(agreed []register.Agreed, entries []protocol.CopyEntry) (newer [][]byte, err error) {
	err = r.joint(func(s Slot, _ *register.Config) error {
		for i := range entries {
			rec := entries[i].Record
			if len(rec.State.Value) > record.CopiedValue { // it would keep all of the answer
				rec.State.Value = buffer.Clone(rec.State.Value)
			}
			var w register.Write
			is, err := s.Acceptor().Copy(agreed[i], rec, &w)
			if err == nil && w.Wanted() {
				err = s.Wrote(&w)
			}
			if err != nil {
				return err
			}
			if !is {
				newer = append(newer, agreed[i].Key)
				continue
			}
			r.c.keys.Add(1)
		}
		return nil
	})
	return newer, err
}
