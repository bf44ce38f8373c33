// Package front serves the connections of clients: sockets, what is read from them and what is written to them, and who may have how much.
// It does not know what commands mean: each Conn has a Session, which does.
//
// Most clients wait most of the time. So workers of the loop wait for all of them at once, and what those that are ready together have sent is
// a round: the Session of each plans its commands as operations, all operations are executed as one batch, and each client is
// answered as soon as its own are done. What takes time for one client only is done by a goroutine, Conn.serve, after which the
// connection comes back to the loop. Where clients cannot be waited for together, each has a goroutine.
//
//	server, accept,     The life of a server: listeners, new connections, the end.
//	shutdown
//	loop, round,        All clients at once.
//	poller
//	conn, serve         One connection, and its goroutine if it has one.
//	session             What a connection needs of the client's state: the door to what is above.
//	ownership           Who may touch a connection.
//	stream, socket,     Bytes: with time limits, without waiting, and those that wait to be sent.
//	output
//	outbox, pushqueue,  What a client is sent without having asked: Conn.Push, how much of that may wait, and who writes it while
//	writers             nobody serves the client.
//	gate                How many operations are under way. Others wait before they are read, or executed.
//	bulk, memory        How much a client may send, and keep waiting, at the cost of others.
package front
