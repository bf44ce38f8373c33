// Package redissuite runs Redis' own test suite, that of the source of redis-server 7.0.15, on Quoll.
//
//	make redis-suite              fetches the source from Debian, and runs the tests of what Quoll has
//	make redis-suite UNIT=unit/type/list
//	make redis-suite TOGETHER=1   the same with databases that are placed together: commands on several keys are executed, as on one Redis
//
// The suite has a mode for servers that it has not started. It is changed in a few places, so that it gets on with a server that has no CONFIG SET:
// what it asks for in order to choose an encoding may be refused; and after a test that fails it connects anew; and the tests of shards' channels
// are run, too, which need no cluster, and those of ACL, but for the parts that start a server with a configuration or an ACL file of their own. Of maxmemory there is the part about keys that are evicted: the others are about what clients and replicas take of the limit, which is the data's alone here. Two of events and tracking are left out that expect an eviction from the command that finds no room. Which tests fail, and why, stands in testdata/failing.txt, or failing-together.txt: a test that
// fails without standing there, and one that stands there and passes, fail this one.
package redissuite
