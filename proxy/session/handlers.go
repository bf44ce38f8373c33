package session

import "github.com/quolldb/quoll/internal/command"

// handlers are the commands that are not made of operations on keys. Each is a
// barrier: the commands before it have been executed and answered when it runs. Those that make transactions (Session.transactional) are not among them.
var handlers = [maxOps]handler{
	command.OpAuth:      runAuth,
	command.OpPing:      runPing,
	command.OpEcho:      runEcho,
	command.OpQuit:      runQuit,
	command.OpReset:     runReset,
	command.OpSelect:    runSelect,
	command.OpHello:     runHello,
	command.OpClient:    clientCommand.run,
	command.OpCommand:   runCommand,
	command.OpInfo:      runInfo,
	command.OpConfig:    configCommand.run,
	command.OpTime:      runTime,
	command.OpLatency:   latencyCommand.run,
	command.OpMemory:    memoryCommand.run,
	command.OpObject:    objectCommand.run,
	command.OpScript:    scriptCommand.run,
	command.OpFunction:  functionCommand.run,
	command.OpSlowlog:   slowlogCommand.run,
	command.OpCluster:   clusterCommand.run,
	command.OpReadOnly:  never(errNoCluster),
	command.OpReadWrite: never(errNoCluster),
	command.OpWait:      runWait,
	command.OpWatch:     runWatch,
	command.OpUnwatch:   runUnwatch,

	command.OpScan:      runScan,
	command.OpKeys:      runKeys,
	command.OpDBSize:    runDBSize,
	command.OpRandomKey: runRandomKey,
	command.OpFlushAll:  runFlushAll,
	command.OpFlushDB:   runFlushDB,
}
