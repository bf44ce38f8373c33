package command

// Untouching reports whether a command, which reads, is no use of its key: as in Redis, who only asks about a key does not keep it from being evicted.
func Untouching(op Op) bool {
	switch op {
	case OpExists, OpType, OpTTL, OpPTTL, OpExpireTime, OpPExpireTime, OpMemory, OpObjectState, OpWatched:
		return true
	}
	return false
}
