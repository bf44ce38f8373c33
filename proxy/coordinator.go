package proxy

// batchState is what the coordinator keeps with a batch between its rounds.
type batchState struct{}
