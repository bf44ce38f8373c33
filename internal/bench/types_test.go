package bench

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/redcon"
)

// TestCommandsOnOtherTypes: what is sent for each, and that what was to be there and is not is counted.
func TestCommandsOnOtherTypes(t *testing.T) {
	const bulk, none, number, zero = "$1\r\nx\r\n", "$-1\r\n", ":1\r\n", ":0\r\n"
	for command, tc := range map[string]struct {
		load         string
		args         int // of the command
		good, absent string
		counterpart  string
	}{
		"rpush":     {load: "RPUSH", args: 3, good: number},
		"lpop":      {load: "RPUSH", args: 2, good: bulk, absent: none, counterpart: "LPUSH"},
		"sadd":      {load: "SADD", args: 3, good: number},
		"sismember": {load: "SADD", args: 3, good: number, absent: zero},
		"zadd":      {load: "ZADD", args: 4, good: zero},
		"zscore":    {load: "ZADD", args: 3, good: bulk, absent: none},
		"zrange":    {load: "ZADD", args: 4, good: "*2\r\n" + bulk + bulk, absent: "*0\r\n"},
	} {
		for _, there := range []bool{true, false} {
			if !there && tc.absent == "" {
				continue
			}
			t.Run(command, func(t *testing.T) {
				opt := sensible()
				opt.Workload, opt.Commands, opt.Check, opt.Keys, opt.Fields, opt.Count = Simple, []string{command}, true, 5, 30, 100
				loaded := 0
				s := &server{answer: func(conn redcon.Conn, cmd redcon.Command) bool {
					name := string(cmd.Args[0])
					switch {
					case len(cmd.Args) > 30:
						require.Equal(t, tc.load, name)
						loaded++
						conn.WriteRaw([]byte(number))
					case strings.EqualFold(name, command):
						require.Len(t, cmd.Args, tc.args)
						if there {
							conn.WriteRaw([]byte(tc.good))
						} else {
							conn.WriteRaw([]byte(tc.absent))
						}
					case name == tc.counterpart:
						conn.WriteRaw([]byte(number))
					default:
						return false
					}
					return true
				}}
				report, err := run(t, opt, s.start(t))
				require.NoError(t, err)
				require.Equal(t, opt.Keys, loaded)
				counts := ops(report)
				require.Positive(t, counts[strings.ToUpper(command)])
				errors, missing, wrong := report.Total()
				require.Zero(t, errors+wrong)
				if there {
					require.Zero(t, missing)
				} else {
					require.Equal(t, counts[strings.ToUpper(command)], missing)
				}
			})
		}
	}
}
