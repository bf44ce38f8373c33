package command

import (
	"bytes"
	"encoding/binary"
)

// published begins the reply to a batch of which scripts have published messages. As with missingKeys no RESP begins so.
const published = "?PUBLISHED"

// MaxPublished bounds the bytes of what the scripts of a batch publish. Each message takes PublishCost beside its texts.
const (
	MaxPublished = 32 << 20
	PublishCost  = 32
)

// AppendPublished appends the beginning of the reply to a batch of which scripts have published messages: whoever has sent the batch publishes them in this order. The rest of
// the reply is behind it. Each message is a request as a client's, PUBLISH channel message, or SPUBLISH.
func AppendPublished(dst []byte, messages []Request) []byte {
	dst = append(dst, published...)
	dst = binary.AppendUvarint(dst, uint64(len(messages)))
	for i := range messages {
		m := &messages[i]
		dst = append(dst, byte(m.Op-OpPublish))
		for _, text := range m.Args[1:3] {
			dst = append(binary.AppendUvarint(dst, uint64(len(text))), text...)
		}
	}
	return dst
}

// Published is the reverse of AppendPublished: it returns the messages that are to be published, and the rest of the reply, of which they are views. It reports false for any
// other reply.
func Published(reply []byte) (messages []Request, rest []byte, ok bool) {
	rest, ok = bytes.CutPrefix(reply, []byte(published))
	if !ok {
		return nil, nil, false
	}
	n, rest, ok := cutNumber(rest)
	if !ok {
		return nil, nil, false
	}
	for ; n > 0; n-- {
		if len(rest) == 0 || rest[0] > byte(OpSPublish-OpPublish) {
			return nil, nil, false
		}
		op := OpPublish + Op(rest[0])
		args := [][]byte{[]byte(byOp[op].Name), nil, nil}
		rest = rest[1:]
		for i := range args[1:] {
			if args[1+i], rest, ok = cutText(rest); !ok {
				return nil, nil, false
			}
		}
		messages = append(messages, Request{Op: op, Args: args})
	}
	return messages, rest, true
}

// cutText takes a text away that its length precedes.
func cutText(all []byte) (text, rest []byte, ok bool) {
	n, rest, ok := cutNumber(all)
	if !ok || n > uint64(len(rest)) {
		return nil, nil, false
	}
	return rest[:n], rest[n:], true
}

func cutNumber(all []byte) (n uint64, rest []byte, ok bool) {
	n, size := binary.Uvarint(all)
	if size <= 0 {
		return 0, nil, false
	}
	return n, all[size:], true
}
