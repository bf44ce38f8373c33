package session

import "github.com/quolldb/quoll/internal/command"

// handlers are the commands that are not made of operations on keys. Each is a
// barrier: the commands before it have been executed and answered when it runs.
var handlers [maxOps]handler

// CLIENT KILL ends connections, whose sessions run handlers: the compiler does not take that for an
// initial value.
func init() {
	handlers = [maxOps]handler{
		command.OpAuth:      (*Session).auth,
		command.OpPing:      (*Session).ping,
		command.OpEcho:      (*Session).echo,
		command.OpQuit:      (*Session).close,
		command.OpReset:     (*Session).reset,
		command.OpSelect:    (*Session).selectDB,
		command.OpHello:     (*Session).hello,
		command.OpClient:    clientCommand.run,
		command.OpCommand:   (*Session).command,
		command.OpInfo:      (*Session).infoCommand,
		command.OpConfig:    configCommand.run,
		command.OpTime:      (*Session).time,
		command.OpLatency:   latencyCommand.run,
		command.OpMemory:    memoryCommand.run,
		command.OpSlowlog:   slowlogCommand.run,
		command.OpCluster:   clusterCommand.run,
		command.OpReadOnly:  never(errNoCluster),
		command.OpReadWrite: never(errNoCluster),

		command.OpCopy:      (*Session).copyKey,
		command.OpScan:      (*Session).scan,
		command.OpKeys:      (*Session).keys,
		command.OpDBSize:    (*Session).dbSize,
		command.OpRandomKey: (*Session).randomKey,
		command.OpFlushAll:  (*Session).flushAll,
		command.OpFlushDB:   (*Session).flushAll,
	}
}
