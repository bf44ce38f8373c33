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
	command.OpXGroup:    xgroupCommand.run,
	command.OpXInfo:     xinfoCommand.run,
	command.OpScript:    scriptCommand.run,
	command.OpFunction:  functionCommand.run,
	command.OpMonitor:   runMonitor,
	command.OpACL:       aclCommand.run,
	command.OpDebug:     runDebug,
	command.OpLolwut:    runLolwut,
	command.OpRole:      runRole,
	command.OpSlowlog:   slowlogCommand.run,
	command.OpCluster:   clusterCommand.run,
	command.OpReadOnly:  inCluster(runReadOnly),
	command.OpReadWrite: inCluster(runReadWrite),
	command.OpAsking:    inCluster(always("+OK\r\n")), // every proxy answers every command
	command.OpWait:      runWait,
	command.OpWatch:     runWatch,
	command.OpUnwatch:   runUnwatch,

	command.OpSubscribe:    runSubscribe,
	command.OpPSubscribe:   runSubscribe,
	command.OpSSubscribe:   runSubscribe,
	command.OpUnsubscribe:  runUnsubscribe,
	command.OpPUnsubscribe: runUnsubscribe,
	command.OpSUnsubscribe: runUnsubscribe,
	command.OpPublish:      runPublish,
	command.OpSPublish:     runPublish,
	command.OpPubSub:       pubSubCommand.run,

	command.OpScan:      runScan,
	command.OpKeys:      runKeys,
	command.OpDBSize:    runDBSize,
	command.OpRandomKey: runRandomKey,
	command.OpFlushAll:  runFlushAll,
	command.OpFlushDB:   runFlushDB,
}
