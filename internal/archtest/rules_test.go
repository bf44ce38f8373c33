package archtest

// Imports point one way: cmd -> proxy, node -> ring, internal. A path in a rule
// stands for the directory and what is below it.

// forbidden says who may not import whom.
var forbidden = []struct{ from, to, because string }{
	{"proxy", "node", "a proxy is a process of its own: what both sides need is in internal/"},
	{"node", "proxy", "a node is a process of its own: what both sides need is in internal/"},
	{"proxy", "cmd", "the command line is on top"},
	{"node", "cmd", "the command line is on top"},
	{"proxy/route", "proxy/front", "who executes batches does not know whose they are"},
	{"proxy/route", "proxy/session", "who executes batches does not know whose they are"},
	{"proxy/front", "proxy/session", "what serves connections knows a client's state by the interface Session only"},
	{"proxy", "proxy/proxytest", "the product does not depend on its tests"},
	{"cmd", "proxy/proxytest", "the product does not depend on its tests"},
	{"ring", "cmd", "the command line is on top"},
	{"ring", "proxy", "the ring is below both sides"},
	{"ring", "node", "the ring is below both sides"},
	{"internal", "cmd", "internal/ holds leaves that both sides share"},
	{"internal", "proxy", "internal/ holds leaves that both sides share"},
	{"internal", "node", "internal/ holds leaves that both sides share"},
	{"internal", "e2e", "the product does not depend on its tests"},
	{"cmd", "e2e", "the product does not depend on its tests"},
	{"e2e", "cmd", "end-to-end tests see the product from outside"},
	{"e2e", "proxy", "end-to-end tests see the product from outside"},
	{"e2e", "node", "end-to-end tests see the product from outside"},
	{"e2e", "ring", "end-to-end tests see the product from outside"},
	{"internal/config", "ring", "settings are read before there is anything else"},
	{"internal/wire", "ring", "the transport moves frames and does not know what is in them"},
	{"internal/wire", "internal/protocol", "the transport moves frames and does not know what is in them"},
	{"node/engine", "node/register", "an engine stores records, whoever decided on them"},
	{"node/engine", "node/datatype", "an engine stores records, whatever they mean"},
	{"node/repair", "node/register", "a repair is a write like any other: the node's homes do it, however they do it"},
	{"node/repair", "node/datatype", "replicas are compared by versions, whatever the states mean"},
	{"node/membership", "node/register", "which ring a node votes in has nothing to do with how it votes"},
	{"node/membership", "node/engine", "the ring is kept by a node's Identity, whatever keeps its records"},
	{"node/membership", "node/datatype", "the ring has nothing to do with what is kept"},
	{"node/membership", "node/repair", "rooms know the node, by their own interfaces, and not each other"},
	{"node/membership", "node/rebuild", "rooms know the node, by their own interfaces, and not each other"},
	{"node/repair", "node/membership", "rooms know the node, by their own interfaces, and not each other"},
	{"node/rebuild", "node/membership", "rooms know the node, by their own interfaces, and not each other"},
	{"node/repair", "node/rebuild", "rooms know the node, by their own interfaces, and not each other"},
	{"node/rebuild", "node/repair", "rooms know the node, by their own interfaces, and not each other"},
	{"node/rebuild", "node/datatype", "records are copied, whatever they mean"},
	{"node/datadir", "node/consensus", "a directory keeps a log, whatever is in it"},
	{"node/decide", "node/membership", "rooms know the node, by their own interfaces, and not each other"},
	{"node/decide", "node/replica", "what is decided about a ring has nothing to do with who carries it out"},
	{"node/decide", "node/peer", "what is decided about a ring has nothing to do with how that travels"},
	{"node/decide", "node/register", "what decides rings has nothing to do with what decides values"},
	{"node/decide", "node/engine", "what decides rings has nothing to do with where values are"},
	{"node/membership", "node/decide", "rooms know the node, by their own interfaces, and not each other"},
	{"node/consensus", "node/decide", "it orders changes of the ring, whatever they mean"},
	{"node/collect", "node/datatype", "records are copied, whatever they mean"},
	{"node/collect", "node/replica", "rooms beside the serving ones know the slots by their own interfaces, so that their tests need no node"},
	{"node/collect", "node/membership", "rooms know the node, by their own interfaces, and not each other"},
	{"node/collect", "node/consensus", "rooms know the node, by their own interfaces, and not each other"},
	{"node/collect", "node/repair", "rooms know the node, by their own interfaces, and not each other"},
	{"node/collect", "node/rebuild", "rooms know the node, by their own interfaces, and not each other"},
	{"node/replica", "node/collect", "rooms know the node, by their own interfaces, and not each other"},
	{"node/repair", "node/collect", "rooms know the node, by their own interfaces, and not each other"},
	{"node/rebuild", "node/collect", "rooms know the node, by their own interfaces, and not each other"},
	{"node/membership", "node/collect", "rooms know the node, by their own interfaces, and not each other"},
	{"node/consensus", "node/collect", "rooms know the node, by their own interfaces, and not each other"},
	{"node/consensus", "ring", "it orders changes of the ring, whatever they mean"},
	{"node/consensus", "node/register", "what decides rings has nothing to do with what decides values"},
	{"node/consensus", "node/engine", "its log is not a store's: a node whose store is replaced may keep it, and the other way round"},
	{"node/consensus", "node/replica", "rooms know the node, by their own interfaces, and not each other"},
	{"node/consensus", "node/membership", "rooms know the node, by their own interfaces, and not each other"},
	{"node/membership", "node/consensus", "rooms know the node, by their own interfaces, and not each other"},
	{"node/consensus", "node/peer", "its messages are bytes, however they travel"},
	{"node/membership", "node/replica", "which ring a node votes in has nothing to do with how it votes"},
	{"node/repair", "node/replica", "rooms beside the serving ones know the slots by their own interfaces, so that their tests need no node"},
	{"node/rebuild", "node/replica", "rooms beside the serving ones know the slots by their own interfaces, so that their tests need no node"},
	{"node/replica", "node/exec", "replicas do not know who makes them do something"},
	{"node/replica", "node/replicate", "replicas do not know who makes them do something"},
	{"node/replica", "node/hint", "what members missed is told to the node, whatever it does with it"},
	{"node/replica", "node/repair", "rooms know the node, by their own interfaces, and not each other"},
	{"node/replica", "node/rebuild", "rooms know the node, by their own interfaces, and not each other"},
	{"node/replica", "node/membership", "rooms know the node, by their own interfaces, and not each other"},
	{"node/exec", "node/replicate", "what proxies ask and what nodes ask meets in the replicas only"},
	{"node/replicate", "node/exec", "what proxies ask and what nodes ask meets in the replicas only"},
	{"node/replicate", "node/datatype", "messages are carried, whatever the states mean"},
	{"node/peer", "node/replica", "what is known of another node is below what uses it"},
	{"node/peer", "node/register", "what is known of another node has nothing to do with what is decided"},
	{"node/peer", "node/engine", "another node's records are not here"},
	{"node/transfer", "node/register", "how objects travel has nothing to do with what is decided on them"},
	{"node/transfer", "node/engine", "an object on its way has nothing to do with what is stored"},
	{"node/datatype", "node/register", "what commands mean has nothing to do with how states are replicated"},
	{"node/script", "node/datatype", "scripts run, whatever their commands mean"},
	{"node/script", "node/engine", "scripts run, whatever keeps what they write"},
	{"node/script", "node/replica", "a script knows keys and commands, not slots"},
	{"node/register", "node/datatype", "the protocol replicates states, whatever they mean: the caller lends it Execute and Apply"},
}

// permitted are exceptions from forbidden.
var permitted = []struct{ pkg, path, because string }{
	{"node/register/sim", "proxy/quorum", "the simulator runs the whole protocol, which begins and ends at a proxy"},
	{"node/register/sim", "node/datatype", "hashes are simulated with the effects and deltas that the product has"},
	{"e2e/world", "node", "whole clusters run in one process, on a network and disks of the test's: the seams are those of the packages, not of the binary"},
	{"e2e/world", "node/consensus", "a world's disks keep how nodes vote on changes of the ring"},
	{"e2e/world", "node/engine", "whole clusters run in one process, on a network and disks of the test's: the seams are those of the packages, not of the binary"},
	{"e2e/world", "node/engine/memory", "whole clusters run in one process, on a network and disks of the test's: the seams are those of the packages, not of the binary"},
	{"e2e/world", "node/engine/disk", "whole clusters run in one process, on a network and disks of the test's: the seams are those of the packages, not of the binary"},
	{"e2e/world", "node/engine/pebble", "whole clusters run in one process, on a network and disks of the test's: the seams are those of the packages, not of the binary"},
	{"e2e/world", "node/engine/journal", "whole clusters run in one process, on a network and disks of the test's: the seams are those of the packages, not of the binary"},
	{"e2e/world", "node/datatype", "whole clusters run in one process, on a network and disks of the test's: the seams are those of the packages, not of the binary"},
	{"e2e/world", "node/register", "whole clusters run in one process, on a network and disks of the test's: the seams are those of the packages, not of the binary"},
	{"e2e/world", "node/replica", "whole clusters run in one process, on a network and disks of the test's: the seams are those of the packages, not of the binary"},
	{"e2e/world", "proxy/quorum", "whole clusters run in one process, on a network and disks of the test's: the seams are those of the packages, not of the binary"},
	{"e2e/world", "ring/change", "what nodes know of the ring, and what changes it, is seen by the check of lineage and done by schedules"},
	{"e2e/world", "proxy", "whole clusters run in one process, on a network and disks of the test's: the seams are those of the packages, not of the binary"},
	{"e2e/world", "proxy/front", "whole clusters run in one process, on a network and disks of the test's: the seams are those of the packages, not of the binary"},
	{"e2e/world", "proxy/route", "whole clusters run in one process, on a network and disks of the test's: the seams are those of the packages, not of the binary"},
	{"e2e/world", "proxy/session", "whole clusters run in one process, on a network and disks of the test's: the seams are those of the packages, not of the binary"},
	{"e2e/world", "ring/gossip", "whole clusters run in one process, on a network and disks of the test's: the seams are those of the packages, not of the binary"},
	{"e2e/world", "ring", "whole clusters run in one process, on a network and disks of the test's: the seams are those of the packages, not of the binary"},
}

// pure packages decide, and do nothing: no goroutine, clock, randomness or I/O. So
// they can be simulated, fuzzed and reasoned about. They import each other and the
// standard library without the packages in impure.
var pure = []string{
	"internal/acl", "internal/algebra", "internal/buffer", "internal/command", "internal/database", "internal/eviction", "internal/function", "internal/hyperloglog", "internal/lcs", "internal/lineage", "internal/notify", "internal/prefetch", "internal/rdb", "internal/protocol/answer", "internal/protocol/replication", "internal/record", "internal/resp", "internal/scan", "internal/suggest", "internal/verify/queue",
	"node/datatype", "node/register", "node/script", "proxy/quorum", "ring",
}

// notPure are below a pure package without being part of it.
var notPure = []string{"node/register/sim", "ring/gossip"}

// impure are packages of the standard library that reach out of the process, start
// something, or give another answer each time.
var impure = []string{"log", "math/rand", "net", "os", "syscall", "testing", "time"}

// harmless are exceptions from impure: what the package uses of it is pure.
var harmless = []struct{ pkg, path, because string }{
	{"ring", "net", "taking host:port apart"},
	{"node/script", "github.com/yuin/gopher-lua", "an interpreter, without its libraries that reach out"},
	{"node/script", "github.com/yuin/gopher-lua/ast", "the tree of a script"},
	{"node/script", "github.com/yuin/gopher-lua/parse", "from a text to its tree"},
	{"internal/resp", "github.com/tidwall/redcon", "of it only functions from bytes to bytes"},
}

// homes says where a library may be imported (tests may import any). A library that is not
// in the list has no home yet: give it one, with the reason.
var homes = []struct{ library, home, because string }{
	{"github.com/hashicorp/memberlist", "ring/gossip", "gossip says who is alive, and nothing else"},
	{"github.com/dgraph-io/badger", "node/engine/badger", "one engine is Badger's, the rest of the house does not know it"},
	{"github.com/cockroachdb/pebble", "node/engine/pebble", "one engine is Pebble's, the rest of the house does not know it"},
	{"github.com/cockroachdb/pebble", "e2e/world", "a disk of the test's is a file system of Pebble's"},
	{"golang.org/x/sys", "node/engine", "what file systems do is an engine's business"},
	{"golang.org/x/sys", "proxy/front", "one epoll instance waits for all clients"},
	{"golang.org/x/sys", "internal/rawio", "what an epoll instance tells"},
	{"golang.org/x/sys", "cmd/quoll", "a process asks for huge pages for its heap"},
	{"go.etcd.io/raft/v3", "node/consensus", "a small group decides rings, and nobody else knows how"},
	{"google.golang.org/protobuf", "node/consensus", "the Raft library's messages are in it"},
	{"github.com/yuin/gopher-lua", "node/script", "who executes commands does not know in which language scripts are"},
	{"github.com/zeebo/xxh3", "node/engine", "how records are ordered and digested is the engine's"},
	{"github.com/prometheus/client_golang", "internal/metrics", "everybody else counts in plain numbers"},
	{"github.com/spf13/pflag", "internal/config", "a setting is declared once"},
	{"go.yaml.in/yaml/v3", "internal/config", "the file is one of the ways to give settings"},
	{"github.com/spf13/cobra", "cmd/quoll", "commands exist on the command line"},
	{"github.com/anishathalye/porcupine", "node/register/sim", "the simulator checks its histories"},
	{"github.com/anishathalye/porcupine", "internal/history", "recorded histories are checked with it"},
	{"github.com/HdrHistogram/hdrhistogram-go", "internal/bench", "latencies over a whole run, in three digits; a timeline's coarser histograms are one for each interval"},
	{"github.com/tidwall/redcon", "internal/resp", "who builds replies does not know whose functions do it"},
	{"github.com/redis/go-redis/v9", "e2e", "a client, for tests"},
	{"github.com/redis/go-redis/v9", "internal/migrate", "both ends of a copy: TLS, users and URLs as every other tool has them"},
	{"github.com/stretchr/testify", "e2e", "test code that several tests share"},
	{"github.com/stretchr/testify", "node/engine/enginetest", "a suite that every engine's test runs"},
	{"github.com/stretchr/testify", "proxy/proxytest", "test code that the proxy's packages share"},
	{"pgregory.net/rapid", "node/engine/enginetest", "a suite that every engine's test runs"},
}
