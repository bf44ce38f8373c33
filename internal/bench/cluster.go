package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/quolldb/quoll/ring"
)

// share is the keys of one node of a Redis Cluster, by their numbers. The zero value is all keys.
type share struct{ numbers []uint32 }

// keys is how many keys there are, of all.
func (s share) keys(all int) int {
	if s.numbers == nil {
		return all
	}
	return len(s.numbers)
}

// number returns that of the nth of its keys.
func (s share) number(nth uint64) uint64 {
	if s.numbers == nil {
		return nth
	}
	return uint64(s.numbers[nth])
}

// divide asks the first server which nodes the Redis Cluster has, makes these the addresses, and gives each its share of the keys: those in slots of which it is the master. As a client of a Redis Cluster does, each
// connection then sends its node nothing that is another one's.
func (o *Options) divide(ctx context.Context) error {
	text, err := o.askNodes(ctx)
	if err != nil {
		return err
	}
	addresses, owner, err := parseNodes(text)
	if err != nil {
		return fmt.Errorf("%s: %w", o.Addresses[0], err)
	}
	if o.Connections < len(addresses) {
		return fmt.Errorf("%d connections are too few for the %d nodes of the cluster: give more --connections", o.Connections, len(addresses))
	}
	o.Addresses, o.shares = addresses, make([]share, len(addresses))
	keys, key := newKeyspace(o.keyPrefix(0), o.KeySize), []byte(nil)
	for n := range o.Keys {
		key = keys.append(key[:0], uint64(n))
		at := owner[ring.SlotOf(key)]
		o.shares[at].numbers = append(o.shares[at].numbers, uint32(n))
	}
	for i, s := range o.shares {
		if len(s.numbers) == 0 {
			return fmt.Errorf("none of %d keys is of a slot of %s: give more --keys", o.Keys, addresses[i])
		}
	}
	return nil
}

// askNodes returns what CLUSTER NODES says.
func (o *Options) askNodes(ctx context.Context) (string, error) {
	conn, err := connect(ctx, o, o.Addresses[0])
	if err != nil {
		return "", err
	}
	defer conn.Close()
	in := reader{from: conn, buf: make([]byte, mostBuffer), onRead: func() {}}
	r, err := ask(conn, &in, o.Addresses[0], command("CLUSTER", "NODES"))
	switch {
	case err != nil:
		return "", err
	case r.kind == '-':
		return "", fmt.Errorf("%s is no node of a Redis Cluster: %s", o.Addresses[0], r.text)
	case r.kind != '$' || r.n < 0:
		return "", fmt.Errorf("%s: CLUSTER NODES: %w", o.Addresses[0], errNotRESP)
	}
	var text []byte
	err = in.body(int(r.n), func(_ int, piece []byte) { text = append(text, piece...) })
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return string(text), err
}

// parseNodes returns the addresses of those nodes that have slots, and which of them each slot is of, from what CLUSTER NODES says: a line for each node,
// "id host:port@bus flags master ping pong epoch link slot first-last ...", https://redis.io/commands/cluster-nodes/.
func parseNodes(text string) (addresses []string, owner [ring.Slots]uint16, err error) {
	owned := 0
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) <= 8 {
			continue
		}
		address, _, _ := strings.Cut(fields[1], "@")
		addresses = append(addresses, address)
		for _, slots := range fields[8:] {
			if strings.HasPrefix(slots, "[") { // on its way
				continue
			}
			from, to, isRange := strings.Cut(slots, "-")
			if !isRange {
				to = from
			}
			first, err1 := strconv.ParseUint(from, 10, 14)
			last, err2 := strconv.ParseUint(to, 10, 14)
			if err1 != nil || err2 != nil {
				return nil, owner, fmt.Errorf("CLUSTER NODES: %q are no slots", slots)
			}
			for slot := first; slot <= last; slot++ {
				owner[slot] = uint16(len(addresses) - 1)
				owned++
			}
		}
	}
	if owned != ring.Slots {
		return nil, owner, fmt.Errorf("CLUSTER NODES: %d slots have a node, of %d: is the cluster well?", owned, ring.Slots)
	}
	return addresses, owner, nil
}
