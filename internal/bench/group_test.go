package bench

import (
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/redcon"

	"github.com/quolldb/quoll/internal/redistest"
)

// TestGroupsOnARedisServer: each transaction is one operation, and writes three keys with one tag.
func TestGroupsOnARedisServer(t *testing.T) {
	address := redistest.Start(t)
	opt := sensible()
	opt.Workload, opt.Commands, opt.Keys, opt.Count, opt.Depth = Simple, []string{"exec", "mset"}, 7, 500, 4
	report, err := run(t, opt, address)
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"EXEC": 500, "MSET": 500}, ops(report))
	errors, missing, wrong := report.Total()
	require.Zero(t, errors+missing+wrong)
	client := redis.NewClient(&redis.Options{Addr: address})
	defer client.Close()
	require.Equal(t, int64(7*groupKeys), client.DBSize(t.Context()).Val())
	keys := client.Keys(t.Context(), "{group:*6}[abc]").Val()
	require.Len(t, keys, groupKeys, "those of the last number, and of no other")
}

// TestAScriptOnARedisServer: it is there before the first EVALSHA, and writes what SET does.
func TestAScriptOnARedisServer(t *testing.T) {
	address := redistest.Start(t)
	opt := sensible()
	opt.Workload, opt.Commands, opt.Keys, opt.Count, opt.Depth, opt.Check = Simple, []string{"evalsha", "get"}, 7, 500, 4, true
	report, err := run(t, opt, address)
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"EVALSHA": 500, "GET": 500}, ops(report))
	errors, missing, wrong := report.Total()
	require.Zero(t, errors+missing+wrong)
}

// TestRefusedTransactionIsOneError, whichever of its answers is one.
func TestRefusedTransactionIsOneError(t *testing.T) {
	for name, say := range map[string]map[string]string{
		"all":    {"MULTI": "-ERR no\r\n", "SET": "-ERR neither\r\n", "EXEC": "-EXECABORT\r\n"},
		"EXEC":   {"MULTI": "+OK\r\n", "SET": "+QUEUED\r\n", "EXEC": "-ERR no\r\n"},
		"a part": {"MULTI": "+OK\r\n", "SET": "+QUEUED\r\n", "EXEC": "*3\r\n+OK\r\n-ERR no\r\n+OK\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			opt := sensible()
			opt.Workload, opt.Commands, opt.Keys, opt.Count, opt.NoLoad = Simple, []string{"exec"}, 5, 40, true
			s := &server{answer: func(conn redcon.Conn, cmd redcon.Command) bool {
				text, ok := say[string(cmd.Args[0])]
				if ok {
					conn.WriteRaw([]byte(text))
				}
				return ok
			}}
			report, err := run(t, opt, s.start(t))
			require.NoError(t, err)
			errors, _, _ := report.Total()
			require.Equal(t, int64(40), errors)
			require.Equal(t, "ERR no", report.LastError)
		})
	}
}
