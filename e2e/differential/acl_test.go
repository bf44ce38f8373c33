//go:build unix

package differential

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/command"
)

// both are a client of each of the two servers, by a name.
type both struct {
	servers servers
	clients map[string][2]*link
}

// do sends a command as a client to both, and returns the replies.
func (b *both) do(t require.TestingT, client string, args ...string) (redis, quoll string) {
	pair, there := b.clients[client]
	if !there {
		for i, address := range []string{b.servers.redis, b.servers.quoll} {
			l, err := dial(address)
			require.NoError(t, err)
			pair[i] = l
		}
		b.clients[client] = pair
	}
	for i, l := range pair {
		reply, err := l.do(args...)
		if err != nil {
			reply = closed
		}
		if i == 0 {
			redis = reply
		} else {
			quoll = reply
		}
	}
	return redis, quoll
}

// same demands that both reply the same.
func (b *both) same(t require.TestingT, client string, args ...string) string {
	redis, quoll := b.do(t, client, args...)
	require.Equal(t, redis, quoll, "%s: %q", client, args)
	return quoll
}

func (b *both) close() {
	for name, pair := range b.clients {
		pair[0].Close()
		pair[1].Close()
		delete(b.clients, name)
	}
}

// play runs lines: the name of a client, what it sends with § for spaces in words, and, behind a %, what is to be done with replies before they are compared.
func (b *both) play(t require.TestingT, text string) {
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		args := slices.Clone(words[1:])
		for i, word := range args {
			args[i] = strings.ReplaceAll(word, "§", " ")
		}
		redis, quoll := b.do(t, words[0], args...)
		if args[0] == "HELLO" {
			redis, quoll = helloID.ReplaceAllString(redis, ""), helloID.ReplaceAllString(quoll, "")
		}
		if strings.EqualFold(args[0], "ACL") && len(args) > 1 {
			switch strings.ToUpper(args[1]) {
			case "LOG":
				redis, quoll = aclLogOf(redis), aclLogOf(quoll)
			case "LIST", "GETUSER": // the order of single commands is that of a hash table
				redis, quoll = sortedWordsOf(redis), sortedWordsOf(quoll)
			}
		}
		require.Equal(t, redis, quoll, line)
	}
}

var (
	helloID   = regexp.MustCompile(`:\d+\r\n\$4\r\nmode`)
	logAge    = regexp.MustCompile(`\$\d+\r\n\d+(\.\d+)?(e-\d+)?\r\n\$11\r\nclient-info\r\n\$\d+\r\n[^\r]*\r\n`)
	lengths   = regexp.MustCompile(`(?m)^\$\d+\r$`)
	logClient = regexp.MustCompile(`client-info`)
)

// aclLogOf leaves out of ACL LOG how long ago it was, and who it was.
func aclLogOf(reply string) string {
	require := logClient.FindAllString(reply, -1)
	return logAge.ReplaceAllString(reply, "client-info") + strings.Join(require, " ")
}

func sortedWordsOf(reply string) string {
	reply = lengths.ReplaceAllString(reply, "") // of texts that may be longer here
	words := slices.DeleteFunc(strings.Fields(reply), func(word string) bool { return slices.Contains(later, word[1:]) })
	slices.Sort(words)
	return strings.Join(words, " ")
}

// aclScenario is what users meet. a is an administrator.
const aclScenario = `
a ACL WHOAMI
a ACL USERS
a ACL LIST
a ACL GETUSER default
a ACL GETUSER nobody
a ACL SETUSER bad§name on
a ACL SETUSER alice on >pw ~a* %R~r* +@read +set +mget +eval +eval_ro +multi +exec +sort +config|get +select|0 +ping +publish +subscribe &news* +info
a ACL SETUSER alice nonsense
a ACL SETUSER alice +nonsense
a ACL SETUSER alice (+get
a ACL LIST
a ACL GETUSER alice
a SET a1 1
a SET r1 2
a SET b1 3
a RPUSH alist 1 2 3
u AUTH alice wrong
u AUTH nobody pw
u AUTH alice pw
u ACL WHOAMI
u ACL LIST
u GET a1
u GET b1
u GET r1
u SET r1 1
u SET a1 9
u SET b1 9
u MGET a1 a2 r1
u MGET a1 b1 r1
u DEL a1
u CONFIG GET nosuch
u CONFIG SET nosuch 1
u CONFIG NOSUCH
u CONFIG GET
u GET
u NOSUCH a
u OBJECT NOSUCH x
u SELECT 0
u SELECT 1
u EVAL return§redis.call('get',KEYS[1]) 1 a1
u EVAL return§redis.call('get',KEYS[1]) 1 b1
u EVAL return§redis.call('get','b1') 0
u EVAL return§redis.pcall('get','b1') 0
u EVAL return§redis.pcall('del','a1') 0
u EVAL return§redis.pcall('publish','other','x') 0
u EVAL return§redis.pcall('publish','news','x') 0
u EVAL return§redis.pcall('set','r1','x') 0
u EVAL return§redis.pcall('config','get','x') 0
u EVAL return§{redis.acl_check_cmd('get','a1'),tostring(redis.acl_check_cmd('get','b1')),tostring(redis.acl_check_cmd('del','a1'))} 0
u EVAL return§redis.acl_check_cmd('nosuch','a1') 0
u EVAL return§{redis.acl_check_cmd('set','a1','x'),redis.acl_check_cmd('config|get','x')} 0
u EVAL_RO return§redis.pcall('get','b1') 0
u EVALSHA 0000000000000000000000000000000000000000 0
u FCALL nosuch 0
u SORT alist
u SORT alist BY a§* GET a*
u SORT alist BY a*
u SORT alist BY nosort
u SORT alist GET #
u SORT alist LIMIT 0 1 GET a*
u SORT alist NOSUCH GET a*
u SORT alist STORE b1
u EVAL return§redis.pcall('sort','alist','get','a*') 0
u PUBLISH news1 x
u PUBLISH other x
u SUBSCRIBE other
u MULTI
u GET a1
u GET b1
u GET a1
u EXEC
u MULTI
u GET a1
u EXEC
u WATCH a1
u AUTH alice pw x
u HELLO 3 AUTH alice wrong
u HELLO 2 AUTH alice pw
a ACL LOG
a ACL LOG 2
a ACL LOG nosuch
a ACL LOG RESET
a ACL LOG
a ACL DRYRUN alice GET a1
a ACL DRYRUN alice GET b1
a ACL DRYRUN alice DEL a1
a ACL DRYRUN alice NOSUCH
a ACL DRYRUN nobody GET a1
a ACL DRYRUN alice GET
a ACL DRYRUN alice PUBLISH other x
a ACL DRYRUN alice CONFIG SET x y
a ACL DRYRUN alice CONFIG NOSUCH
a ACL DRYRUN alice SHUTDOWN
a ACL LOAD
a ACL SAVE
a ACL DELUSER default
a ACL DELUSER nobody
u MULTI
u SET a{t} 5
u MGET a{t} r{t}
u EXEC
u MULTI
u SET a{t} 6
u GET r{t}
a ACL SETUSER alice -set resetkeys ~r*
u EXEC
u GET a1
u GET r1
a ACL LOG
a ACL LOG RESET
a ACL SETUSER bob on nopass +@all ~* &*
v AUTH bob anything
v SET b1 1
v ACL WHOAMI
v CLIENT KILL USER nobody
v CLIENT KILL USER alice
v SELECT 0
v RESET
v ACL WHOAMI
v AUTH bob x
v ACL DELUSER bob
v PING
a ACL USERS
a ACL SETUSER default off
w PING
w AUTH pw
a PING
a ACL SETUSER default on >secret
x PING
x AUTH wrong
x AUTH secret
x PING
x HELLO 3 AUTH default secret
x ACL GETUSER default
a ACL SETUSER default nopass
y PING
y AUTH secret
a ACL DELUSER alice bob
`

// TestACLSameAsRedis: users are made, do what they may and what they may not, are changed and deleted, here as there.
func TestACLSameAsRedis(t *testing.T) {
	s := startServers(t)
	b := &both{s, map[string][2]*link{}}
	t.Cleanup(b.close)
	b.play(t, aclScenario)
}

// loginScenario is who executes what is queued behind AUTH.
const loginScenario = `
a ACL SETUSER alice on >pw ~* +@all
a ACL SETUSER bob on nopass ~a* +@all
a ACL SETUSER carol on nopass ~* &* +@all -set -publish
u MULTI
u SET {a}b 1
u AUTH bob x
u SET a 1
u SET x{a} 1
u GET {a}b
u MGET a x{a}
u EXEC
u ACL WHOAMI
u GET a
u SET x{a} 2
v AUTH bob x
v MULTI
v AUTH alice pw
v SET x{a} 3
v SET a 3
v EXEC
v MULTI
v AUTH alice pw
v SET a 3
v AUTH carol x
v SET a 4
v AUTH alice wrong
v AUTH a b c
v AUTH x
v SET a 5
v GET a
v PUBLISH news x
v AUTH alice pw
v SET a 6
v GET x{a}
v EXEC
v ACL WHOAMI
v GET a
w MULTI
w HELLO 2 AUTH carol x SETNAME a§b
w SET a 7
w HELLO 2 SETNAME a§b AUTH bob x
w GET x{a}
w HELLO 9 AUTH bob x
w GET x{a}
w HELLO 2 AUTH bob x AUTH alice wrong
w GET x{a}
w EXEC
w ACL WHOAMI
w CLIENT GETNAME
x WATCH a
u SET a 8
x MULTI
x AUTH carol x
x EXEC
x ACL WHOAMI
x MULTI
x AUTH carol x
x EVAL return§redis.call('set',KEYS[1],1) 1 a
x EVAL return§redis.call('get',KEYS[1]) 1 a
x EXEC
x ACL WHOAMI
y MULTI
y AUTH bob x
y SORT a BY x*
y AUTH alice pw
y SORT {a}list BY nosort
y EXEC
y MULTI
y AUTH bob x
y DISCARD
y ACL WHOAMI
a ACL LOG
a ACL DELUSER alice bob carol
`

// TestLoginsInTransactionsAsRedis: what is queued behind AUTH is executed as the new user, or refused.
func TestLoginsInTransactionsAsRedis(t *testing.T) {
	s := startServers(t)
	b := &both{s, map[string][2]*link{}}
	t.Cleanup(b.close)
	b.play(t, loginScenario)
}

// TestACLDisconnectsAsRedis: who may not listen any more is disconnected, and so is whose user is deleted.
func TestACLDisconnectsAsRedis(t *testing.T) {
	s := startServers(t)
	b := &both{s, map[string][2]*link{}}
	t.Cleanup(b.close)
	b.play(t, `
a ACL SETUSER sub on nopass +@all ~* &a* &b
one AUTH sub x
one SUBSCRIBE a1
two AUTH sub x
two SUBSCRIBE b
three AUTH sub x
three PSUBSCRIBE a*
four AUTH sub x
four GET k
a ACL SETUSER sub resetchannels &a*
`)
	gone := func(client string, want bool) {
		for i, l := range b.clients[client] {
			require.NoError(t, l.SetReadDeadline(time.Now().Add(map[bool]time.Duration{true: 5 * time.Second, false: 200 * time.Millisecond}[want])))
			_, err := l.Read(make([]byte, 1))
			timedOut := strings.Contains(err.Error(), "timeout")
			require.Equal(t, want, !timedOut, "%s on %d: %v", client, i, err)
		}
	}
	gone("two", true)
	gone("one", false)
	gone("three", false)
	gone("four", false)
	b.play(t, "a ACL DELUSER sub\n")
	for _, client := range []string{"one", "three", "four"} {
		gone(client, true)
	}
}

// TestACLRulesSameAsRedis gives a user random rules and has it execute random commands, here and there.
func TestACLRulesSameAsRedis(t *testing.T) {
	s := startServers(t)
	b := &both{s, map[string][2]*link{}}
	t.Cleanup(b.close)
	rapid.Check(t, func(t *rapid.T) {
		b.do(t, "a", "ACL", "DELUSER", "u")
		delete(b.clients, "u")
		b.same(t, "a", "ACL", "SETUSER", "u", "on", "nopass")
		b.same(t, "u", "AUTH", "u", "x")
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			rules := rapid.SliceOfN(aclRules, 1, 4).Draw(t, "rules")
			b.same(t, "a", append([]string{"ACL", "SETUSER", "u"}, rules...)...)
			redis, quoll := b.do(t, "a", "ACL", "GETUSER", "u")
			require.Equal(t, sortedWordsOf(redis), sortedWordsOf(quoll))
			for range 5 {
				args := aclCommands.Draw(t, "command")
				b.same(t, "a", append([]string{"ACL", "DRYRUN", "u"}, args...)...)
				b.same(t, "u", args...)
			}
		}
	})
}

var aclRules = rapid.OneOf(
	rapid.SampledFrom([]string{"+@all", "-@all", "allkeys", "resetkeys", "allchannels", "resetchannels", "clearselectors", "(+@all ~*)", "(%R~a* +@read)", "(~b &*)", "+nonsense", "~* ~a"}),
	rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"~", "%R~", "%W~", "&"}).Draw(t, "kind") + rapid.SampledFrom([]string{"a", "a*", "b", "[ab]"}).Draw(t, "pattern")
	}),
	rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"+@", "-@"}).Draw(t, "sign") + rapid.SampledFrom(command.CategoryNames()).Draw(t, "category")
	}),
	rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{"+", "-"}).Draw(t, "sign") + rapid.SampledFrom([]string{"get", "set", "eval", "object", "object|encoding", "publish", "sort", "config|get", "lmpop"}).Draw(t, "name")
	}),
)

// aclCommands are commands whose replies are the same whoever has executed what before: none changes a value, and the keys of each that writes are in one slot.
var aclCommands = rapid.SampledFrom(func() (list [][]string) {
	for _, line := range []string{
		"GET a", "GET b", "GET c", "STRLEN ab", "MGET a a", "EXISTS b", "GETEX a", "GETEX a PERSIST", "DEL c", "EXPIRE c 5", "OBJECT ENCODING a", "TOUCH a", "TYPE b", "SORT c", "SORT c BY c*", "SORT c GET a", "SORT {c} STORE c", "SORT a STORE {a}",
		"SETRANGE c 0 ", "APPEND c ", "LMPOP 1 c LEFT", "LPOP c", "PUBLISH a x", "PUBLISH c x", "EVAL return§1 0", "EVAL return§1 1 c", "EVAL return§redis.pcall('get','a') 0", "EVAL return_redis.pcall('publish','b','x') 0",
		"EVAL return§redis.pcall('del',KEYS[1]) 1 a", "CONFIG GET nosuch", "CONFIG SET nosuch x", "PING", "ECHO x", "ACL WHOAMI", "SUBSTR a 0 1", "XLEN c", "PFCOUNT c", "SINTERCARD 1 c", "ZCARD b", "BITCOUNT a", "HLEN c", "EXPIRETIME a",
	} {
		words := strings.Split(line, " ")
		for i, word := range words {
			words[i] = strings.ReplaceAll(word, "§", " ")
		}
		list = append(list, words)
	}
	return list
}())
