package datatype

import (
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// What the TTL family replies for a key without expiry, and for no key.
const (
	ttlNone   = -1
	ttlAbsent = -2
)

// ttl serves TTL: the time to live in seconds, rounded to the nearest.
func ttl(dst []byte, st record.State, _ *command.Request, now int64) ([]byte, record.Effect) {
	return appendExpiry(dst, st, now, 1000)
}

// pTTL serves PTTL: the time to live in milliseconds.
func pTTL(dst []byte, st record.State, _ *command.Request, now int64) ([]byte, record.Effect) {
	return appendExpiry(dst, st, now, 1)
}

// expireTime serves EXPIRETIME: the expiry in Unix seconds, rounded to the nearest.
func expireTime(dst []byte, st record.State, _ *command.Request, _ int64) ([]byte, record.Effect) {
	return appendExpiry(dst, st, 0, 1000)
}

// pExpireTime serves PEXPIRETIME: the expiry in Unix milliseconds.
func pExpireTime(dst []byte, st record.State, _ *command.Request, _ int64) ([]byte, record.Effect) {
	return appendExpiry(dst, st, 0, 1)
}

// appendExpiry replies the expiry as a distance from base, in units of the given
// number of milliseconds.
func appendExpiry(dst []byte, st record.State, base, unit int64) ([]byte, record.Effect) {
	switch {
	case !st.Live():
		return resp.AppendInt(dst, ttlAbsent), noEffect
	case st.ExpireAt == 0:
		return resp.AppendInt(dst, ttlNone), noEffect
	}
	left := st.ExpireAt - base
	n := left / unit
	if left%unit >= (unit+1)/2 {
		n++
	}
	return resp.AppendInt(dst, n), noEffect
}
