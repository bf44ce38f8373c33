//go:build unix

package differential

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// watched is a server, a client of it, and another one that monitors.
type watched struct {
	client, monitor *link
	rounds          int
}

func watch(t *testing.T, address string) *watched {
	client, err := dial(address)
	require.NoError(t, err)
	monitor, err := dial(address)
	require.NoError(t, err)
	t.Cleanup(func() { client.Close(); monitor.Close() })
	reply, err := monitor.do("MONITOR")
	require.NoError(t, err)
	require.Equal(t, "+OK\r\n", reply)
	return &watched{client: client, monitor: monitor}
}

// whose is what a line begins with: when, and by whom.
var whose = regexp.MustCompile(`^\+\d+\.\d{6} \[(\d+) (127\.0\.0\.1:\d+|lua)\]`)

// run sends commands at once and returns the last reply, and what is shown of them.
func (w *watched) run(commands [][]string) (last string, shown []string, err error) {
	w.rounds++
	end := fmt.Sprintf("end of %d", w.rounds)
	var all []byte
	for _, args := range append(commands, []string{"ECHO", end}) {
		all = append(all, encode(args)...)
	}
	if err := w.client.send(all); err != nil {
		return "", nil, err
	}
	for range commands {
		if last, err = w.client.reply(); err != nil {
			return "", nil, err
		}
	}
	if _, err = w.client.reply(); err != nil {
		return "", nil, err
	}
	for {
		line, err := w.monitor.reply()
		if err != nil || strings.HasSuffix(line, fmt.Sprintf(" \"ECHO\" %q\r\n", end)) {
			return last, shown, err
		}
		parts := whose.FindStringSubmatch(line)
		if parts == nil {
			return last, shown, fmt.Errorf("a line of MONITOR: %q", line)
		}
		who := "client"
		if parts[2] == "lua" {
			who = "lua"
		}
		shown = append(shown, parts[1]+" "+who+line[len(parts[0]):])
	}
}

// monitored are commands that are sent at once, separated by |, and whose words are separated by spaces; _ stands for a space, and F for the code of a library.
var monitored = []string{
	`EVAL redis.call('set',KEYS[1],'y')_redis.pcall('GET',KEYS[1])_redis.pcall('nosuch')_redis.pcall('get')_redis.pcall('lpush',KEYS[1],'z')_return_redis.call('ping') 1 {m}x|SET {m}after 1`,
	`EVAL redis.call('select',3)_redis.call('get','{m}q')_redis.call('echo',12.5)_return_redis.call('time') 0|SET {m}after 1|GET {m}after`,
	`EVAL return_redis.call('incr','{m}unnamed') 0|EVAL return_redis.call('incr','{m}unnamed') 1 {m}unnamed`,
	`MULTI|SET {m}a 1|EVAL redis.call('incr',KEYS[1])_return_redis.call('incr',KEYS[1]) 1 {m}a|GET {m}a|EVAL return_redis.call('ttl',KEYS[1]) 1 {m}a|EXEC|GET {m}a`,
	`MULTI|PING|SET {m}a 1|EVAL return_redis.call('incr',KEYS[1]) 1 {m}a|SELECT 2|GET {m}a|EVAL return_redis.call('get',KEYS[1]) 1 {m}a|EXEC|SELECT 0`,
	`WATCH {m}a|SET {m}a 5|MULTI|EVAL return_redis.call('incr',KEYS[1]) 1 {m}a|EXEC`,
	`WATCH {m}a|SET {m}a 5|MULTI|GET {m}a|PING|EXEC|MULTI|EXEC|EXEC|MULTI|NOSUCH|EXEC|MULTI|DISCARD`,
	`EVAL redis.call('set','{m}b','1')_error('x') 0|EVAL redis.call('publish','c','m')_redis.setresp(3)_return_#redis.call('hgetall','{m}h') 0|EVAL_RO return_redis.pcall('set','{m}b','1') 0`,
	`SET {m}b 7|EVAL_RO return_redis.pcall('get',KEYS[1]) 1 {m}b|EVAL return_redis.call('set','{m}x','y','nosuchoption') 0|EVAL return_redis.pcall('config','get','x') 0`,
	`EVAL return_redis.call('auth','a') 0|EVAL return_1 0|EVAL syntax_error 0|EVAL return_1 x|EVALSHA nosuch 0|EVAL return_redis.call('object','encoding',KEYS[1]) 1 {m}b`,
	`FUNCTION LOAD REPLACE F|FCALL f 1 {m}f v|FCALL g 1 {m}f|FCALL_RO g 1 {m}f|FCALL_RO f 1 {m}f v|FCALL nosuch 0|MULTI|FCALL f 1 {m}f w|FCALL g 1 {m}f|EXEC|FUNCTION DELETE lib`,
	`SELECT 3|EVAL redis.call('set',KEYS[1],ARGV[1])_redis.call('rename',KEYS[1],'{m}3')_return_redis.call('mget','{m}3',KEYS[1]) 1 {m}k \x00\xff"\|SELECT 16|SELECT 0`,
	`SELECT 2|RESET|EVAL return_redis.call('mset',KEYS[1],1,'{m}l',2) 1 {m}k|SORT {m}none BY {m}*|PING`,
	`SCRIPT LOAD return_redis.call('get','{m}zz')|EVALSHA e625b4b70a0081a94037b23d4af81e3d7dcffb05 0|EVALSHA_RO e625b4b70a0081a94037b23d4af81e3d7dcffb05 0`,
}

// library is the code that F stands for.
const library = "#!lua name=lib\n" +
	"redis.register_function('f', function(keys, args) redis.call('set', keys[1], args[1]) return redis.call('strlen', keys[1]) end)\n" +
	"redis.register_function{function_name='g', callback=function(keys) return redis.call('get', keys[1]) end, flags={'no-writes'}}"

func commandsOf(text string) (commands [][]string) {
	for _, line := range strings.Split(text, "|") {
		words := strings.Fields(line)
		for i, word := range words {
			if word == "F" {
				word = library
			}
			if name := words[0]; i > 0 && name != "EVAL_RO" || i > 1 {
				word = strings.ReplaceAll(word, "_", " ")
			}
			words[i] = word
		}
		commands = append(commands, words)
	}
	return commands
}

// TestMonitorSameAsRedis: who monitors sees the same on both, of clients and of their scripts, in the same order.
func TestMonitorSameAsRedis(t *testing.T) {
	s := startServers(t)
	redis, quoll := watch(t, s.redis), watch(t, s.quoll)
	compare := func(commands [][]string) error {
		_, theirs, err := redis.run(commands)
		if err != nil {
			return err
		}
		_, ours, err := quoll.run(commands)
		if err != nil {
			return err
		}
		if want, got := strings.Join(theirs, ""), strings.Join(ours, ""); want != got {
			return fmt.Errorf("%q:\nRedis shows\n%s\nQuoll shows\n%s", commands, want, got)
		}
		return nil
	}
	for _, text := range monitored {
		require.NoError(t, compare(commandsOf(text)))
	}
	// Every script is new to Quoll's proxy, or known, or uses keys that it has not named; and all of them are sent at once.
	var single []string
	for _, text := range monitored {
		for _, line := range strings.Split(text, "|") {
			if !strings.HasPrefix(line, "RESET") && !strings.HasPrefix(line, "FUNCTION") && !strings.HasPrefix(line, "SELECT 16") {
				single = append(single, line)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom(single), 1, 12).Draw(t, "lines")
		lines = append(lines, "RESET")
		if err := compare(commandsOf(strings.Join(lines, "|"))); err != nil {
			t.Fatal(err)
		}
	})
}

// TestMonitorIsBounded: a script that calls more than is told is shown with how much more it was, and its reply is what it is.
func TestMonitorIsBounded(t *testing.T) {
	s := startServers(t)
	quoll := watch(t, s.quoll)
	reply, shown, err := quoll.run([][]string{{"EVAL", "for i = 1, 9 do redis.call('set', KEYS[1], string.rep('x', 50000)) redis.call('get', KEYS[1]) end return 'all'", "1", "k"}, {"GET", "after"}})
	require.NoError(t, err)
	require.Equal(t, "$-1\r\n", reply)
	require.Len(t, shown, 13)
	for i, line := range shown[1:11] {
		require.Contains(t, line, []string{`0 lua "set" "k" "xxx`, `0 lua "get" "k"`}[i%2])
	}
	require.Equal(t, `0 lua "... (8 more commands)"`+"\r\n", shown[11])
	require.Contains(t, shown[12], `"GET" "after"`)
}
