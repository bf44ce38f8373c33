package notify

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/quolldb/quoll/internal/database"
)

// What the names of the channels begin with.
const (
	channelPrefix  = "__key"
	keyspacePrefix = channelPrefix + "space@"
	keyeventPrefix = channelPrefix + "event@"
)

// AppendSpace appends the name of the channel of an event's key, whose messages are the names of events, and AppendEvent that of the channel of its name, whose messages are
// keys. Key is the key as clients name it.
func (e *Event) AppendSpace(dst []byte) []byte {
	id, key := database.Split(e.Key)
	return append(appendDatabase(append(dst, keyspacePrefix...), id), key...)
}

// AppendEvent is described at AppendSpace.
func (e *Event) AppendEvent(dst []byte) []byte {
	id, _ := database.Split(e.Key)
	return append(appendDatabase(append(dst, keyeventPrefix...), id), e.Name...)
}

// ClientsKey is the key as clients name it.
func (e *Event) ClientsKey() []byte {
	_, key := database.Split(e.Key)
	return key
}

func appendDatabase(dst []byte, id database.ID) []byte {
	return append(strconv.AppendInt(dst, int64(id.Number()), 10), "__:"...)
}

// Heard reports whether a name that is subscribed to, of a channel or a pattern, may be that of a channel of events. In doubt it is true.
func Heard(name []byte, isPattern bool) bool {
	if !isPattern {
		return bytes.HasPrefix(name, []byte(channelPrefix))
	}
	literal := name
	if at := bytes.IndexAny(name, `*?[\`); at >= 0 {
		literal = name[:at]
		return strings.HasPrefix(channelPrefix, string(literal)) || bytes.HasPrefix(literal, []byte(channelPrefix))
	}
	return bytes.HasPrefix(literal, []byte(channelPrefix))
}
