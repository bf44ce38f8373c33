package proxy

import "github.com/quolldb/quoll/internal/command"

// handlers are the commands that are not made of operations on keys. Each is a
// barrier: the commands before it have been executed and answered when it runs.
var handlers [maxOps]handler

// CLIENT KILL ends sessions, which run handlers: the compiler does not take that for an
// initial value.
func init() {
	handlers = [maxOps]handler{
		command.OpAuth:      (*session).auth,
		command.OpPing:      (*session).ping,
		command.OpEcho:      (*session).echo,
		command.OpQuit:      (*session).close,
		command.OpReset:     (*session).reset,
		command.OpSelect:    (*session).selectDB,
		command.OpHello:     (*session).hello,
		command.OpClient:    clientCommand.run,
		command.OpCommand:   (*session).command,
		command.OpInfo:      (*session).infoCommand,
		command.OpConfig:    configCommand.run,
		command.OpTime:      (*session).time,
		command.OpLatency:   latencyCommand.run,
		command.OpMemory:    memoryCommand.run,
		command.OpSlowlog:   slowlogCommand.run,
		command.OpCluster:   clusterCommand.run,
		command.OpReadOnly:  never(errNoCluster),
		command.OpReadWrite: never(errNoCluster),

		command.OpCopy:      (*session).copyKey,
		command.OpScan:      (*session).scan,
		command.OpKeys:      (*session).keys,
		command.OpDBSize:    (*session).dbSize,
		command.OpRandomKey: (*session).randomKey,
		command.OpFlushAll:  (*session).flushAll,
		command.OpFlushDB:   (*session).flushAll,
	}
}
