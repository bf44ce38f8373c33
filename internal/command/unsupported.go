package command

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// unsupportedCommands are the other commands of Redis 7.0 by group, each with its
// arity: enough to refuse them as Redis would and to say "not supported yet".
var unsupportedCommands = map[string]string{
	"bitmap": `
		bitop:-4`,
	"cluster": `
		asking:1`,
	"generic": `
		dump:2 migrate:-6 move:3 object:-2 rename:3 renamenx:3 restore:-4 sort:-2 sort_ro:-2 wait:3`,
	"geo": `
		geoadd:-5 geodist:-4 geohash:-2 geopos:-2 georadius:-6 georadius_ro:-6 georadiusbymember:-5
		georadiusbymember_ro:-5 geosearch:-7 geosearchstore:-8`,
	"hyperloglog": `
		pfadd:-2 pfcount:-2 pfdebug:3 pfmerge:-2 pfselftest:1`,
	"list": `
		blmove:6 blmpop:-5 blpop:-3 brpop:-3 brpoplpush:4 lindex:3 linsert:5 llen:2 lmove:5 lmpop:-4 lpop:-2 lpos:-3
		lpush:-3 lpushx:-3 lrange:4 lrem:4 lset:4 ltrim:4 rpop:-2 rpoplpush:3 rpush:-3 rpushx:-3`,
	"pubsub": `
		psubscribe:-2 publish:3 pubsub:-2 punsubscribe:-1 spublish:3 ssubscribe:-2 subscribe:-2 sunsubscribe:-1
		unsubscribe:-1`,
	"scripting": `
		eval:-3 eval_ro:-3 evalsha:-3 evalsha_ro:-3 fcall:-3 fcall_ro:-3 function:-2 script:-2`,
	"server": `
		acl:-2 bgrewriteaof:1 bgsave:-1 debug:-2 failover:-1 lastsave:1 lolwut:-1 module:-2 monitor:1 psync:-3
		replconf:-1 replicaof:3 restore-asking:-4 role:1 save:1 shutdown:-1 slaveof:3 swapdb:3 sync:1`,
	"set": `
		sadd:-3 scard:2 sdiff:-2 sdiffstore:-3 sinter:-2 sintercard:-3 sinterstore:-3 sismember:3 smembers:2
		smismember:-3 smove:4 spop:-2 srandmember:-2 srem:-3 sscan:-3 sunion:-2 sunionstore:-3`,
	"sorted-set": `
		bzmpop:-5 bzpopmax:-3 bzpopmin:-3 zadd:-4 zcard:2 zcount:4 zdiff:-3 zdiffstore:-4 zincrby:4 zinter:-3
		zintercard:-3 zinterstore:-4 zlexcount:4 zmpop:-4 zmscore:-3 zpopmax:-2 zpopmin:-2 zrandmember:-2 zrange:-4
		zrangebylex:-4 zrangebyscore:-4 zrangestore:-5 zrank:3 zrem:-3 zremrangebylex:4 zremrangebyrank:4
		zremrangebyscore:4 zrevrange:-4 zrevrangebylex:-4 zrevrangebyscore:-4 zrevrank:3 zscan:-3 zscore:3 zunion:-3
		zunionstore:-4`,
	"stream": `
		xack:-4 xadd:-5 xautoclaim:-6 xclaim:-6 xdel:-3 xgroup:-2 xinfo:-2 xlen:2 xpending:-3 xrange:-4 xread:-4
		xreadgroup:-7 xrevrange:-4 xsetid:-3 xtrim:-4`,
	"string": `
		msetnx:-3`,
	"transactions": `
		discard:1 exec:1 multi:1 unwatch:1 watch:-2`,
}

// parseUnsupported turns unsupportedCommands into descriptions.
func parseUnsupported() []*Command {
	var list []*Command
	for _, group := range slices.Sorted(maps.Keys(unsupportedCommands)) {
		for _, field := range strings.Fields(unsupportedCommands[group]) {
			name, number, _ := strings.Cut(field, ":")
			arity, err := strconv.Atoi(number)
			if err != nil {
				panic("command: bad arity in the table of unsupported commands: " + field)
			}
			list = append(list, &Command{Name: name, Route: RouteUnsupported, Arity: arity, Group: group})
		}
	}
	return list
}
