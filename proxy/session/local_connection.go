package session

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
)

// redisVersion is the version of Redis that Quoll's replies are those of.
const redisVersion = "7.0.15"

// runPing is PING [message].
func runPing(s *Session, dst []byte, args [][]byte) []byte {
	switch {
	case len(args) > 2:
	case s.subs.count > 0 && !s.resp3:
		return resp.AppendBulk(resp.AppendBulk(resp.AppendArray(dst, 2), "pong"), bytes.Join(args[1:], nil))
	case len(args) == 1:
		return append(dst, "+PONG\r\n"...)
	default:
		return resp.AppendBulk(dst, args[1])
	}
	return route.AppendReply(dst, wrongArity("ping"))
}

func runEcho(s *Session, dst []byte, args [][]byte) []byte { return resp.AppendBulk(dst, args[1]) }

// runQuit is QUIT.
func runQuit(s *Session, dst []byte, _ [][]byte) []byte {
	s.conn.Quit()
	s.setTracking(tracking{}) // the connection may last until the client closes it
	s.info.set(func(c *clientInfo) { c.quit = true })
	return append(dst, resp.OK...)
}

// runReset is RESET: the connection is as new, and in no transaction.
func runReset(s *Session, dst []byte, _ [][]byte) []byte {
	s.replies, s.readonly = replyOn, s.replica
	s.setTracking(tracking{})
	s.endMonitor()
	s.endTransaction()
	s.unsubscribeAll()
	s.conn.Deliver() // what was heard before
	s.setRESP3(false)
	s.setDatabase(0)
	s.info.set(func(c *clientInfo) {
		c.name, c.noEvict, c.noTouchMode = "", false, false
	})
	s.beginUser()
	return append(dst, "+RESET\r\n"...)
}

func (s *Session) setRESP3(on bool) {
	s.resp3 = on
	s.subs.resp3.Store(on)
	s.info.set(func(c *clientInfo) { c.resp3 = on })
}

// runHello is HELLO [protocol [AUTH user password] [SETNAME name]],
// https://redis.io/commands/hello/. The protocol changes only if all of it can be done.
func runHello(s *Session, dst []byte, args [][]byte) []byte {
	var protocol int64
	if len(args) > 1 {
		var err error
		if protocol, err = parseProtocol(args[1]); err == nil {
			login := func(name, password []byte) error { return s.login("HELLO", name, password) }
			err = helloOptions(args[2:], login, s.setName)
		}
		if err != nil {
			return route.AppendReply(dst, err)
		}
	}
	if !s.mayUseCommands() {
		return route.AppendReply(dst, s.unknown(errHelloNoAuth))
	}
	if protocol != 0 {
		s.setRESP3(protocol == 3)
	}
	return appendHello(s, dst)
}

func parseProtocol(arg []byte) (int64, error) {
	protocol, ok := resp.ParseInt(arg)
	switch {
	case !ok:
		return 0, route.Refuse("ERR Protocol version is not an integer or out of range")
	case protocol != 2 && protocol != 3:
		return 0, errNoProto
	}
	return protocol, nil
}

// helloOptions executes the options of HELLO in order. As in Redis those before a wrong
// one have been executed.
func helloOptions(options [][]byte, login func(name, password []byte) error, setName func([]byte) error) error {
	for len(options) > 0 {
		switch {
		case is(options[0], "AUTH") && len(options) >= 3:
			if err := login(options[1], options[2]); err != nil {
				return err
			}
			options = options[3:]
		case is(options[0], "SETNAME") && len(options) >= 2:
			if err := setName(options[1]); err != nil {
				return err
			}
			options = options[2:]
		default:
			return route.Refuse(fmt.Sprintf("ERR Syntax error in HELLO option '%s'", shown(options[0])))
		}
	}
	return nil
}

func appendHello(s *Session, dst []byte) []byte {
	protocol := int64(2)
	if s.resp3 {
		protocol = 3
	}
	dst = resp.AppendMap(dst, 7, s.resp3)
	dst = resp.AppendBulk(resp.AppendBulk(dst, "server"), "redis")
	dst = resp.AppendBulk(resp.AppendBulk(dst, "version"), redisVersion)
	dst = resp.AppendInt(resp.AppendBulk(dst, "proto"), protocol)
	dst = resp.AppendInt(resp.AppendBulk(dst, "id"), s.conn.ID())
	dst = resp.AppendBulk(resp.AppendBulk(dst, "mode"), s.service.ofMode("standalone", "cluster"))
	dst = resp.AppendBulk(resp.AppendBulk(dst, "role"), s.role("replica"))
	return resp.AppendArray(resp.AppendBulk(dst, "modules"), 0)
}

// runTime is TIME: seconds and microseconds since 1970.
func runTime(s *Session, dst []byte, _ [][]byte) []byte {
	micros := time.Now().UnixMicro()
	dst = resp.AppendArray(dst, 2)
	dst = resp.AppendBulk(dst, strconv.FormatInt(micros/1e6, 10))
	return resp.AppendBulk(dst, strconv.FormatInt(micros%1e6, 10))
}
