package session

import (
	"fmt"
	"time"

	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
)

// clientCommand is CLIENT, https://redis.io/commands/client/.
var clientCommand = container{"CLIENT", []subcommand{
	{"GETNAME", 2, clientGetName, []string{"GETNAME", "Return the name of the current connection."}},
	{"ID", 2, clientID, []string{"ID", "Return the ID of the current connection."}},
	{"INFO", 2, clientInfoCommand, []string{"INFO", "Return information about the current client connection."}},
	{"KILL", -3, clientKill, []string{
		"KILL <ip:port> | <option> <value> [<option> <value> [...]]", "Kill connections. Options are:",
		"* ID <client-id>", "* ADDR <ip:port>", "* LADDR <ip:port>", "* TYPE (NORMAL|MASTER|REPLICA|PUBSUB)", "* USER <username>",
		"* SKIPME (YES|NO)", "  Skip killing current connection (default: yes).",
	}},
	{"LIST", -2, clientList, []string{
		"LIST [options ...]", "Return information about client connections. Options:",
		"* TYPE (NORMAL|MASTER|REPLICA|PUBSUB)", "* ID <client-id> [<client-id> ...]",
	}},
	{"NO-EVICT", 3, clientNoEvict, []string{"NO-EVICT (ON|OFF)", "Accepted and shown in CLIENT LIST; Quoll evicts no clients."}},
	{"NO-TOUCH", 3, clientNoTouch, []string{"NO-TOUCH (ON|OFF)", "Accepted and shown in CLIENT LIST; Quoll keeps no access times."}},
	{"REPLY", 3, clientReply, []string{"REPLY (ON|OFF|SKIP)", "Control the replies sent to the current connection."}},
	{"SETINFO", 4, clientSetInfo, []string{"SETINFO (LIB-NAME|LIB-VER) <value>", "Say which library the current connection uses."}},
	{"SETNAME", 3, clientSetName, []string{"SETNAME <name>", "Assign the name <name> to the current connection."}},
	{"UNPAUSE", 2, clientUnpause, []string{"UNPAUSE", "Stop the current client pause, resuming traffic."}},
	{"PAUSE", -3, clientPause, []string{"PAUSE <timeout> [WRITE|ALL]", "Suspend all, or just write, clients of this proxy for <timeout> milliseconds."}},
	{"GETREDIR", 2, clientGetRedir, []string{"GETREDIR", "Return the client ID that tracking messages go to."}},
	{"TRACKING", -3, clientTracking, []string{
		"TRACKING (ON|OFF) [REDIRECT <id>] [OPTIN] [OPTOUT] [NOLOOP]", "Control server assisted client side caching.",
	}},
	{"TRACKINGINFO", 2, clientTrackingInfo, []string{"TRACKINGINFO", "Report tracking status for the current connection."}},
	{"CACHING", 3, clientCaching, []string{"CACHING (YES|NO)", "Enable/disable tracking of the keys for next command in OPTIN/OPTOUT modes."}},
	{"UNBLOCK", -3, clientUnblock, []string{"UNBLOCK <clientid> [TIMEOUT|ERROR]", "Unblock a client of this proxy that waits."}},
}}

func clientGetName(s *Session, dst []byte, _ [][]byte) []byte {
	if name := s.info.clientName(); name != "" {
		return resp.AppendBulk(dst, name)
	}
	return resp.AppendNull(dst, s.resp3)
}

func clientSetName(s *Session, dst []byte, args [][]byte) []byte {
	if err := s.setName(args[2]); err != nil {
		return route.AppendReply(dst, err)
	}
	return append(dst, resp.OK...)
}

// checkName says why the connection cannot have that name.
func checkName(name []byte) error {
	if !validName(name) {
		return errClientName
	}
	return nil
}

// setName names the connection; the empty name takes its name away.
func (s *Session) setName(name []byte) error {
	if err := checkName(name); err != nil {
		return err
	}
	s.info.set(func(c *clientInfo) { c.name = string(name) })
	return nil
}

// clientSetInfo is of Redis 7.2; libraries send it when they connect.
func clientSetInfo(s *Session, dst []byte, args [][]byte) []byte {
	name, value := args[2], args[3]
	if !is(name, "LIB-NAME") && !is(name, "LIB-VER") {
		return route.AppendReply(dst, route.Refuse(fmt.Sprintf("ERR Unrecognized option '%s'", shown(name))))
	}
	if !validName(value) {
		return route.AppendReply(dst, route.Refuse(fmt.Sprintf("ERR %s cannot contain spaces, newlines or special characters.", name)))
	}
	s.info.set(func(c *clientInfo) {
		if is(name, "LIB-NAME") {
			c.libName = string(value)
		} else {
			c.libVersion = string(value)
		}
	})
	return append(dst, resp.OK...)
}

func clientID(s *Session, dst []byte, _ [][]byte) []byte { return resp.AppendInt(dst, s.conn.ID()) }

func clientInfoCommand(s *Session, dst []byte, args [][]byte) []byte {
	return resp.AppendVerbatim(dst, string(s.describe(nil, time.Now(), args)), s.resp3)
}

func clientNoEvict(s *Session, dst []byte, args [][]byte) []byte {
	return setClientFlag(s, dst, args[2], func(c *clientInfo, on bool) { c.noEvict = on })
}

func clientNoTouch(s *Session, dst []byte, args [][]byte) []byte {
	return setClientFlag(s, dst, args[2], func(c *clientInfo, on bool) { c.noTouchMode = on })
}

func setClientFlag(s *Session, dst, arg []byte, set func(c *clientInfo, on bool)) []byte {
	on := is(arg, "ON")
	if !on && !is(arg, "OFF") {
		return route.AppendReply(dst, errSyntax)
	}
	s.info.set(func(c *clientInfo) { set(c, on) })
	return append(dst, resp.OK...)
}

// clientReply is CLIENT REPLY. OFF and SKIP are not answered themselves.
func clientReply(s *Session, dst []byte, args [][]byte) []byte {
	switch {
	case is(args[2], "ON"):
		s.replies = replyOn
		return append(dst, resp.OK...)
	case is(args[2], "OFF"):
		s.replies = replyOff
	case is(args[2], "SKIP"):
		if s.replies != replyOff {
			s.replies = replySkipNext
		}
	default:
		return route.AppendReply(dst, errSyntax)
	}
	return dst
}

// clientUnblock is CLIENT UNBLOCK id [TIMEOUT|ERROR]: a client of this proxy that waits gets a reply, as if its time were up or an error.
func clientUnblock(s *Session, dst []byte, args [][]byte) []byte {
	if len(args) > 4 || len(args) == 4 && !is(args[3], "TIMEOUT") && !is(args[3], "ERROR") {
		return route.AppendReply(dst, route.Refuse("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR"))
	}
	id, ok := resp.ParseInt(args[2])
	if !ok {
		return route.AppendReply(dst, errNotInteger)
	}
	why := unblockedByTimeout
	if len(args) == 4 && is(args[3], "ERROR") {
		why = unblockedByError
	}
	for _, client := range s.all() {
		if w := client.info.waits.Load(); client.conn.ID() == id && w != nil && s.service.waiting.end(w, why) {
			return resp.AppendInt(dst, 1)
		}
	}
	return resp.AppendInt(dst, 0)
}
