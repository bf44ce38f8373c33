package session

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/acl"
	"github.com/quolldb/quoll/proxy/proxytest"
	"github.com/quolldb/quoll/proxy/route"
	"github.com/quolldb/quoll/ring/change"
)

const noAuth = "-NOAUTH Authentication required.\r\n"

// TestUsersOfTheClusterAreThoseOfEachProxy: what one proxy changes the sessions of another one follow.
func TestUsersOfTheClusterAreThoseOfEachProxy(t *testing.T) {
	proxytest.EachWay(t, testUsersOfTheCluster)
}

func testUsersOfTheCluster(t *testing.T, w proxytest.Way) {
	cluster := proxytest.NewCluster()
	_, one := serve(t, w, Config{}, cluster)
	_, other := serve(t, w, Config{Password: "secret"}, cluster)
	admin, user := proxytest.Dial(t, one), proxytest.Dial(t, other)
	require.Equal(t, noAuth, user.Do("PING"), "nobody has changed the default user of this proxy")
	require.Equal(t, "+OK\r\n", admin.Do("ACL SETUSER alice on >pw ~a* +@all"))
	require.Equal(t, "+OK\r\n", user.Do("AUTH alice pw"))
	require.Equal(t, "+OK\r\n", user.Do("SET a 1"))
	require.Equal(t, "-NOPERM this user has no permissions to access one of the keys used as arguments\r\n", user.Do("SET b 1"))
	require.Equal(t, "+OK\r\n", admin.Do("ACL SETUSER alice -set"))
	require.Equal(t, "-NOPERM this user has no permissions to run the 'set' command\r\n", user.Do("SET a 1"))
	require.Contains(t, user.Do("CLIENT LIST"), " user=alice ")

	// The default user of the cluster is that of every proxy.
	require.Equal(t, "+OK\r\n", admin.Do("ACL SETUSER default nopass"))
	require.Equal(t, "+PONG\r\n", proxytest.Dial(t, other).Do("PING"))
	require.Equal(t, "+OK\r\n", admin.Do("ACL SETUSER default >other"))
	require.Equal(t, "+PONG\r\n", admin.Do("PING"), "who is there stays")
	third := proxytest.Dial(t, other)
	require.Equal(t, noAuth, third.Do("PING"))
	require.Contains(t, third.Do("AUTH secret"), "-WRONGPASS")
	require.Equal(t, "+OK\r\n", third.Do("AUTH other"))

	require.Equal(t, ":1\r\n", admin.Do("ACL DELUSER alice"))
	require.Empty(t, user.Rest())
}

// TestAUserIsDeletedInMidPipeline: nothing of a pipeline is executed behind the command that deletes its user, or after another client has.
func TestAUserIsDeletedInMidPipeline(t *testing.T) { proxytest.EachWay(t, testDeletedInMidPipeline) }

func testDeletedInMidPipeline(t *testing.T, w proxytest.Way) {
	cluster := proxytest.NewCluster()
	_, addr := serve(t, w, Config{}, cluster)
	admin, user := proxytest.Dial(t, addr), proxytest.Dial(t, addr)
	require.Equal(t, "+OK\r\n", admin.Do("ACL SETUSER bob on nopass +@all ~* &*"))
	require.Equal(t, "+OK\r\n", user.Do("AUTH bob x"))
	user.Send("SET a 1", "ACL DELUSER bob", "SET a 2")
	require.Equal(t, "+OK\r\n:1\r\n", user.Rest())
	require.Equal(t, "$1\r\n1\r\n", admin.Do("GET a"))

	// Of the same name is not the same user.
	require.Equal(t, "+OK\r\n", admin.Do("ACL SETUSER bob on nopass +@all ~* &*"))
	user = proxytest.Dial(t, addr)
	require.Equal(t, "+OK\r\n", user.Do("AUTH bob x"))
	admin.Send("MULTI", "ACL DELUSER bob", "ACL SETUSER bob on nopass +@all ~*", "EXEC")
	for range 3 {
		admin.Reply()
	}
	require.Equal(t, "*2\r\n:1\r\n+OK\r\n", admin.Reply())
	require.Empty(t, user.Rest())
}

// TestUsersThatCannotBeChanged: the cluster's error is the reply, and users stay as they are.
func TestUsersThatCannotBeChanged(t *testing.T) {
	cluster := proxytest.NewCluster()
	_, addr := startServer(t, Config{}, cluster)
	c := proxytest.Dial(t, addr)
	cluster.UsersErr = route.Refuse("ERR no majority")
	require.Equal(t, "-ERR no majority\r\n", c.Do("ACL SETUSER bob on"))
	require.Equal(t, "*1\r\n$7\r\ndefault\r\n", c.Do("ACL USERS"))
	require.Equal(t, ":0\r\n", c.Do("ACL DELUSER bob"), "there is nothing to change")
	cluster.UsersErr = nil
	require.Contains(t, c.Do("ACL SETUSER bob ~"+strings.Repeat("x", 70_000)), "may have 65536")
}

// silent is a cluster that has not said yet who its users are.
type silent struct {
	*proxytest.Cluster
	hear func(route.Users)
}

func (s *silent) ListenUsers(hear func(route.Users)) { s.hear = hear }

// TestWhoeverConnectedBeforeTheUsersWereKnown: such a client has to log in again if the default user turns out to be another one.
func TestWhoeverConnectedBeforeTheUsersWereKnown(t *testing.T) {
	cluster := &silent{Cluster: proxytest.NewCluster()}
	_, addr := startServer(t, Config{}, cluster)
	early := proxytest.Dial(t, addr)
	for _, notReady := range []error{route.ErrNotReady, nil} { // the ring may be known a moment before the users are
		cluster.Lock()
		cluster.NotReady = notReady
		cluster.Unlock()
		for _, command := range []string{"PING", "SET k v", "AUTH alice pw", "ACL SETUSER alice on"} {
			require.Contains(t, early.Do(command), "-LOADING", command)
		}
	}
	cluster.hear(route.Users{At: 7})
	require.Equal(t, "+PONG\r\n", early.Do("PING"), "the default user is as it was thought to be")

	cluster = &silent{Cluster: proxytest.NewCluster()}
	_, addr = startServer(t, Config{}, cluster)
	early = proxytest.Dial(t, addr)
	require.Contains(t, early.Do("PING"), "-LOADING")
	locked, err := acl.NewDefault("").With([]string{">secret"})
	require.NoError(t, err)
	cluster.hear(usersOf(t, locked))
	require.Equal(t, noAuth, early.Do("PING"))
	require.Equal(t, "+OK\r\n", early.Do("AUTH secret"))
}

// usersOf are users as the cluster has them.
func usersOf(t *testing.T, list ...*acl.User) (all route.Users) {
	t.Helper()
	all.At = 2
	for _, u := range list {
		all.List = append(all.List, change.User{Name: u.Name, Rules: u.Stored(), Since: 1})
	}
	return all
}

// TestRulesThatAreNotUnderstoodPermitNothing: a proxy of an older version does not let a user do what it may not.
func TestRulesThatAreNotUnderstoodPermitNothing(t *testing.T) {
	cluster := &silent{Cluster: proxytest.NewCluster()}
	_, addr := startServer(t, Config{}, cluster)
	all := usersOf(t, acl.NewDefault(""), acl.New("later"))
	all.List[1].Rules = "on nopass ~* &* +@all -commandoflater"
	cluster.hear(all)
	c := proxytest.Dial(t, addr)
	require.Contains(t, c.Do("AUTH later x"), "-WRONGPASS")
	require.Contains(t, c.Do("ACL LIST"), "\r\nuser later off resetchannels -@all\r\n")
}

// TestPasswordsAreNotShown: neither by MONITOR nor by SLOWLOG, ACL LIST or ACL LOG.
func TestPasswordsAreNotShown(t *testing.T) {
	_, addr := startServer(t, Config{Noted: &Noted{SlowlogSlowerThan: 0, SlowlogMaxLen: 100}}, proxytest.NewCluster())
	monitor, c := proxytest.Dial(t, addr), proxytest.Dial(t, addr)
	require.Equal(t, "+OK\r\n", monitor.Do("MONITOR"))
	var seen strings.Builder
	for _, line := range []string{"ACL SETUSER bob on >hush1", "AUTH bob hush1", "AUTH bob hush2", "HELLO 3 AUTH bob hush1", "RESET", "ACL SETUSER bob <hush1 >hush3", "ACL LIST", "ACL LOG", "ACL GETUSER bob", "SLOWLOG GET 100", "ECHO end"} {
		seen.WriteString(c.Do(line))
	}
	for !strings.Contains(seen.String(), `"ECHO" "end"`) {
		seen.WriteString(monitor.Reply())
	}
	require.NotContains(t, seen.String(), "hush")
	require.Contains(t, seen.String(), "(redacted)")
}

// TestChangesAtATimeAreAllMade: of clients of several proxies.
func TestChangesAtATimeAreAllMade(t *testing.T) {
	cluster := proxytest.NewCluster()
	_, one := startServer(t, Config{}, cluster)
	_, other := startServer(t, Config{}, cluster)
	var wait sync.WaitGroup
	for i := range 8 {
		c := proxytest.Dial(t, []string{one, other}[i%2])
		wait.Go(func() { require.Equal(t, "+OK\r\n", c.Do("ACL SETUSER u"+string(rune('a'+i))+" on")) })
	}
	wait.Wait()
	require.Equal(t, "*9\r\n", proxytest.Dial(t, one).Do("ACL USERS")[:4])
}

// TestCertificatesNameUsers: who shows the certificate of a user that there is, and that may log in, is that user from the beginning; everybody else is the default user.
func TestCertificatesNameUsers(t *testing.T) {
	for _, w := range []proxytest.Way{proxytest.ByFrontTLS, proxytest.ByGoroutinesTLS} {
		t.Run(w.Name, func(t *testing.T) { testCertificatesNameUsers(t, w) })
	}
}

func testCertificatesNameUsers(t *testing.T, w proxytest.Way) {
	cluster := proxytest.NewCluster()
	_, addr := serve(t, w, Config{CertificateUsers: true, Password: "secret"}, cluster)
	_, without := serve(t, w, Config{Password: "secret"}, cluster)
	admin := proxytest.Dial(t, addr)
	require.Equal(t, noAuth, admin.Do("PING"), "there is no certificate")
	require.Equal(t, "+OK\r\n", admin.Do("AUTH secret"))
	require.Equal(t, "+OK\r\n", admin.Do("ACL SETUSER alice on ~a* +@all"))
	require.Equal(t, "+OK\r\n", admin.Do("ACL SETUSER carol off +@all"))
	require.Equal(t, noAuth, proxytest.DialAs(t, without, "alice").Do("PING"), "names do not count")

	alice := proxytest.DialAs(t, addr, "alice")
	require.Equal(t, "$5\r\nalice\r\n", alice.Do("ACL WHOAMI"))
	require.Equal(t, "-NOPERM this user has no permissions to access one of the keys used as arguments\r\n", alice.Do("SET b 1"))
	require.Equal(t, "+OK\r\n", alice.Do("AUTH secret"))
	require.Equal(t, "$7\r\ndefault\r\n", alice.Do("ACL WHOAMI"))
	require.Equal(t, "+RESET\r\n", alice.Do("RESET"))
	require.Equal(t, "$5\r\nalice\r\n", alice.Do("ACL WHOAMI"), "as if it were a new connection")

	bob, carol := proxytest.DialAs(t, addr, "bob"), proxytest.DialAs(t, addr, "carol")
	require.Equal(t, noAuth, bob.Do("PING"), "there is no such user")
	require.Equal(t, noAuth, carol.Do("PING"), "it may not log in")
	require.Equal(t, ":1\r\n", admin.Do("ACL DELUSER alice"))
	require.Empty(t, alice.Rest())
}

// TestACertificateWhoseUserIsNotKnownYet: such a client waits until users are known, and need not say who it is then.
func TestACertificateWhoseUserIsNotKnownYet(t *testing.T) {
	cluster := &silent{Cluster: proxytest.NewCluster()}
	_, addr := serve(t, proxytest.ByFrontTLS, Config{CertificateUsers: true, Password: "secret"}, cluster)
	cluster.NotReady = route.ErrNotReady
	alice, other, bob := proxytest.DialAs(t, addr, "alice"), proxytest.DialAs(t, addr, "alice2"), proxytest.DialAs(t, addr, "bob")
	require.Contains(t, alice.Do("GET k"), "-LOADING")
	require.Contains(t, bob.Do("HELLO"), "-LOADING")
	require.Equal(t, "+OK\r\n", other.Do("AUTH secret"))
	cluster.Lock()
	cluster.NotReady = nil
	cluster.Unlock()
	rules := func(name string) *acl.User {
		u, err := acl.New(name).With([]string{"on", "+@all", "~*"})
		require.NoError(t, err)
		return u
	}
	cluster.hear(usersOf(t, rules("alice"), rules("alice2")))
	require.Equal(t, "$5\r\nalice\r\n", alice.Do("ACL WHOAMI"))
	require.Equal(t, "$7\r\ndefault\r\n", other.Do("ACL WHOAMI"), "it has said who it is")
	require.Equal(t, noAuth, bob.Do("PING"))
}

// TestLoginsInTransactions: what Redis would do and Quoll cannot is refused; and a login comes to at EXEC what it came to before the commands on keys were executed.
func TestLoginsInTransactions(t *testing.T) {
	cluster := proxytest.NewCluster()
	service, addr := startServer(t, Config{}, cluster)
	c := proxytest.Dial(t, addr)
	require.Equal(t, "+OK\r\n", c.Do("ACL SETUSER bob on >pw +@all ~a*"))
	for _, line := range []string{"MULTI", "EVAL x 0", "AUTH bob pw", "EVAL y 0"} {
		c.Do(line)
	}
	require.Contains(t, c.Do("EXEC"), "-EXECABORT Transaction discarded because of: Quoll does not execute scripts of users with different rules")
	require.Equal(t, "$7\r\ndefault\r\n", c.Do("ACL WHOAMI"), "nothing was done")

	for _, line := range []string{"MULTI", "AUTH bob no", "SET b 1", "AUTH bob pw", "SET b 2", "AUTH bob no"} {
		require.Contains(t, c.Do(line), "+")
	}
	wrong := "-WRONGPASS invalid username-password pair or user is disabled.\r\n"
	reply := c.Do("EXEC")
	require.True(t, strings.HasPrefix(reply, "*5\r\n"+wrong+"+OK\r\n+OK\r\n-NOPERM "), reply)
	require.True(t, strings.HasSuffix(reply, wrong), reply)
	require.Equal(t, "$3\r\nbob\r\n", c.Do("ACL WHOAMI"))
	require.Equal(t, "*2", strings.SplitN(proxytest.Dial(t, addr).Do("ACL LOG"), "\r\n", 2)[0][:2])
	require.NotNil(t, service)
}
