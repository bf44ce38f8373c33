// Package history records what clients asked a key/value store and what they were
// answered, and decides with Porcupine whether one register per key could have
// answered so: whether the history is linearizable.
//
// It is for tests. A client wraps every command:
//
//	call := recorder.Begin(history.Command{Kind: history.Incr, Key: "k"})
//	reply, err := ...
//	switch {
//	case err == nil:    call.Done(reply)
//	case "no effect":   call.NoEffect()
//	default:            call.Unknown()
//	}
//
// Checking costs time that grows exponentially with how many operations on a key
// overlap, so keep to about 60 operations a key, and take new keys for more.
package history
