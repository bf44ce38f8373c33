// Package migrate copies keys from one server of Redis' protocol to another, or from the file of a Redis: quoll import, and quoll export for the way out.
//
// A Source hands out batches of keys, in an order in which it can go on from any of them. Workers read the values (DUMP, and when it expires) and write them to the target
// (RESTORE ABSTTL), each on connections of its own, in pipelines whose bytes are bounded. What cannot be copied, for its type, its length or because another value
// is there, is counted and named, and everything else goes on.
//
// It can be interrupted at any moment. The state file has the position up to which all is copied; and a key that turns out to be there already with the same value
// and the same expiry is none that is in the way. So an import can also be repeated without a state file, which is only slower.
//
// What the source's clients write while it runs is copied or not; the verification afterwards says if it meets such keys.
//
// go-redis is used for both ends: TLS, users, and URLs as every other tool has them.
package migrate
