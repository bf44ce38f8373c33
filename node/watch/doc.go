// Package watch knows which keys proxies want to hear of, and tells them when a replica of this node is sent a newer version of one: for clients that wait for a key (BLPOP), and for
// those that keep what they have read (CLIENT TRACKING). Of keys that begin in some way they hear whoever reads them (prefix.go).
//
// What is told is a reason to look, and no more: the version may not be chosen, and may never be. That nothing is missed rests on majorities (package protocol, watch.go),
// and on the order on each side: a key is watched here before the proxy is told so, and a version is told after it was staged, before anybody hears that it was.
//
// As long as nobody watches a slot a write to it pays one atomic look.
package watch
