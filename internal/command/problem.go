package command

// Errors that proxies and nodes find alike, as replies.
const (
	// ErrCrossSlot is the error for keys of different slots in what has to be of one.
	ErrCrossSlot = "CROSSSLOT Keys in request don't hash to the same slot"

	errNotInteger = "ERR value is not an integer or out of range"
)
