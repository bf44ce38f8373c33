// Package history records what clients asked a key/value store and what they were
// answered, and decides with Porcupine whether one register per key could have
// answered so: whether the history is linearizable.
//
// It is for tests and for quoll verify. A client wraps every command:
//
//	client := recorder.Client()
//	call := client.Begin(history.Command{Kind: history.Incr, Key: "k"})
//	reply, err := ...
//	switch {
//	case err == nil:    call.Done(reply)
//	case "no effect":   call.NoEffect()
//	default:            call.Unknown()
//	}
//
// A hash is one register with all its fields, so a command that reads several has to see them as they were at one moment. So are lists, sets and sorted
// sets: an element that was acknowledged is handed out once, or still there. SPOP takes whichever member it answers with; one of unknown
// outcome may have taken any.
//
// A command that a client repeats after a time-out is two operations: the first is
// Unknown. The commands of a pipeline take effect in its order, as far as they are answered:
// Client.Pipeline.
//
// Expiry: a key may vanish at any moment from its time on, but not before; what was
// seen gone stays gone until it is written again; and what is asked after the last moment at
// which the key can have expired does not see it. That takes one clock for clients and
// servers, which processes on one machine have.
//
// Checking costs time that grows exponentially with how many operations on a key
// overlap, so keep to about 60 operations a key, fewer if many of them are Unknown, and take new
// keys for more. To a key that is a Journal there may be any number of appends.
package history
