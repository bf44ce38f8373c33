package main

import "strings"

// stages are what the CPU time of a command goes into, in the order of its way through proxy and nodes. What is none of them is other.
var stages = []string{
	"sockets", "parse", "session, commands", "route", "frames", "execute", "register", "replicate", "engine", "ask for memory", "reply", "scheduler", "allocate, collect", "background", other,
}

const other = "other"

// module begins the names of Quoll's own functions, which are the rules' that begin with a slash.
const module = "github.com/quolldb/quoll"

// rules say which stage a function is of; of several that fit, the longest one says it. A function that none fits, such as one that copies memory, is of the stage of whoever calls it.
var rules = map[string]string{
	// The process waits, or is woken up; the poller of Go's runtime is part of that.
	"runtime.mcall": "scheduler", "runtime.schedule": "scheduler", "runtime.findRunnable": "scheduler", "runtime.park_m": "scheduler", "runtime.netpoll": "scheduler", "runtime.goready": "scheduler",
	"runtime.ready": "scheduler", "runtime.gopark": "scheduler", "runtime.futex": "scheduler", "runtime.mstart": "scheduler", "runtime.sysmon": "scheduler", "runtime.wakep": "scheduler",
	"runtime.usleep": "scheduler", "runtime.osyield": "scheduler", "runtime.chansend": "scheduler", "runtime.chanrecv": "scheduler", "runtime.selectgo": "scheduler", "runtime.goexit0": "scheduler",
	"runtime.semasleep": "scheduler", "runtime.semawakeup": "scheduler", "runtime.morestack": "scheduler", "runtime.newproc": "scheduler", "runtime.notewakeup": "scheduler", "runtime.notetsleep": "scheduler",
	"runtime.semrelease1": "scheduler", "runtime.semacquire1": "scheduler", "runtime.casgstatus": "scheduler", "runtime.resetspinning": "scheduler", "runtime.entersyscall": "scheduler", "runtime.exitsyscall": "scheduler",
	"runtime.selectnbsend": "scheduler", "runtime.goschedImpl": "scheduler", "runtime.nanotime": "scheduler", "runtime.runtimer": "scheduler", "runtime.(*timers)": "scheduler", "runtime.(*timer)": "scheduler",
	"runtime.mallocgc": "allocate, collect", "runtime.gc": "allocate, collect", "runtime.bgsweep": "allocate, collect", "runtime.bgscavenge": "allocate, collect", "runtime.sweepone": "allocate, collect",
	"runtime.(*mheap)": "allocate, collect", "runtime.(*mcache)": "allocate, collect", "runtime.newobject": "allocate, collect", "runtime.growslice": "allocate, collect", "runtime.makeslice": "allocate, collect",
	"runtime.wbBufFlush": "allocate, collect", "runtime.scanobject": "allocate, collect", "runtime.deductAssistCredit": "allocate, collect", "runtime.(*scavengerState)": "allocate, collect",

	"/internal/rawio": "sockets", "/proxy/front.(*socket)": "sockets", "/proxy/front.(*poller)": "sockets", "net.": "sockets", "syscall.read": "sockets", "syscall.write": "sockets",
	"internal/poll.": "sockets", "golang.org/x/sys/unix.Epoll": "sockets",
	"/internal/resp": "parse", "/internal/resp.Append": "reply", "/internal/resp.append": "reply", "/internal/resp.Format": "reply", "github.com/tidwall/redcon": "reply",
	"/proxy/front": "session, commands", "/proxy/session": "session, commands", "/internal/command": "session, commands", "/internal/acl": "session, commands", "/internal/database": "session, commands",
	"/proxy/front.(*Conn).Write": "reply", "/proxy/front.(*Conn).flush": "reply", "/proxy/front.(*Conn).send": "reply", "/proxy/session.(*Session).reply": "reply",
	"/proxy/route": "route", "/proxy/quorum": "route", "/ring": "route",
	"/internal/wire": "frames", "/internal/protocol": "frames", "/internal/pipes": "frames", "hash/crc32": "frames",
	"/node.": "execute", "/node/exec": "execute", "/node/datatype": "execute", "/internal/notify": "execute", "/node/broker": "execute", "/node/watch": "execute",
	"/node/register": "register", "/node/replica": "register", "/internal/record": "register",
	"/node/replicate": "replicate", "/node/peer": "replicate",
	"/node/engine": "engine", "github.com/zeebo/xxh3": "engine",
	"/internal/prefetch": "ask for memory",
	"/node/repair":       "background", "/node/collect": "background", "/ring/gossip": "background", "/node/consensus": "background", "/node/membership": "background", "/cmd/quoll": "background",
	"/internal/metrics": "background", "/internal/admin": "background", "/internal/clock": "background", "/internal/eviction": "background", "github.com/hashicorp/": "background", "go.etcd.io/raft": "background",
	"runtime/pprof": "background", "net/http": "background", "/node.(*Node).tick": "background", "/node/replica.(*Slots).Tick": "background",
}

// stageOf returns the stage of a stack, innermost function first: that of the first one which a rule fits.
func stageOf(stack []string) string {
	for _, function := range stack {
		if stage := stageOfFunction(function); stage != "" {
			return stage
		}
	}
	return other
}

// stageOfFunction returns the stage that rules say, or "".
func stageOfFunction(function string) string {
	function = strings.TrimPrefix(function, module)
	for end := len(function); end > 0; end-- {
		if stage, ok := rules[function[:end]]; ok {
			return stage
		}
	}
	return ""
}
