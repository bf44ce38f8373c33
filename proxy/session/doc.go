// Package session is what a proxy knows of one client, and what its commands do there. It holds no data: what is about keys is executed
// by a route.Cluster.
//
// The front hands a Session what its client has sent. Commands on keys become operations on one key each (plan): GET is one, MGET one for each
// key. When they are executed, their replies are put together again, in the order of the commands (assemble). All other commands are
// the proxy's own (handlers, auth, client_list, local_*, scan, copy, info). Each of these is a barrier: what came before it is executed and answered first.
//
// Between MULTI and EXEC commands are queued (multi, prepare). EXEC is one operation, on all keys of its commands and those that are watched (watch), which are in one slot; what the proxy
// answers itself it adds to the reply (exec). What is on all keys of a database that is placed together is a part of it, once these are listed (whole).
//
// A command of the proxy is a function of the Session that it is for (type handler), so that the methods of Session are what it keeps and how it
// executes what it was sent. A Service is what all sessions share. Texts of errors are in errors.go here, and in route for what the cluster answers.
package session
