package exec

import (
	"bytes"
	"fmt"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/resp"
)

// Errors of PUBLISH in a script, as redis.call raises them.
var (
	errLongName     = fmt.Sprintf("ERR names of channels and patterns may have %d bytes", protocol.MaxName)
	errPublishRoom  = fmt.Sprintf("ERR what scripts publish at once may take %d MiB", command.MaxPublished>>20)
	errReadOnlyPubl = "ERR Write commands are not allowed from read-only scripts."
)

// messages are what the scripts of a batch have published. They leave when the batch is done, if it is: a script may be run again, or nothing of it be done.
type messages struct {
	list  []command.Request
	bytes int
}

// publish keeps a message, and appends how many clients subscribe to its channel at this moment.
func (r *scriptRun) publish(cmd *command.Command, args [][]byte) []byte {
	size := len(args[1]) + len(args[2]) + command.PublishCost
	switch {
	case r.readOnly:
		return resp.AppendError(nil, errReadOnlyPubl)
	case len(args[1]) > protocol.MaxName:
		return resp.AppendError(nil, errLongName)
	case r.messages.bytes+size > command.MaxPublished:
		return resp.AppendError(nil, errPublishRoom)
	}
	r.messages.bytes += size
	r.messages.list = append(r.messages.list, command.Request{Op: cmd.Op, Args: [][]byte{args[0], bytes.Clone(args[1]), bytes.Clone(args[2])}})
	n := uint64(0)
	if clients := r.exec.opt.Clients; clients != nil {
		n = clients(cmd.Op == command.OpSPublish, args[1])
	}
	return resp.AppendInt(nil, int64(n))
}
