// Package notify is Redis' notifications of what happens to keys: the classes of events, as notify-keyspace-events names them, how events travel from
// the place where a command is executed to that where it is known to be done, and on which channels they are published.
//
// It is pure.
//
//	class.go    Class: the letters of notify-keyspace-events
//	list.go     List: the events of one execution, which travel before its reply
//	message.go  the two messages of an event
package notify
