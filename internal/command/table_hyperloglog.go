package command

// hyperloglogCommands work on strings that estimate how many different elements were added to them.
var hyperloglogCommands = []*Command{
	{Name: "pfadd", Op: OpPFAdd, Route: RouteWrite, Arity: -2, Flags: FlagWrite | FlagDenyOOM | FlagFast, Categories: CatHyperLogLog,
		KeySpecs: oneKey(KeyRW | KeyInsert),
		Since:    "2.8.9", Summary: "Adds the specified elements to the specified HyperLogLog.",
		Complexity: "O(1) to add every element.",
		Limits:     "adds nothing to a string that turns out to be corrupt. Redis adds the elements before the one at which it notices"},
	// Of one key it is a write, of which the value keeps the estimate.
	{Name: "pfcount", Op: OpPFCount, Route: RouteSplit, Arity: -2, Flags: FlagReadOnly, Categories: CatHyperLogLog,
		KeySpecs: []KeySpec{{First: 1, Last: -1, Step: 1, Flags: KeyRW | KeyAccess,
			Notes: "RW because it may change the internal representation of the key, and propagate to replicas"}},
		Since: "2.8.9", Summary: "Return the approximated cardinality of the set(s) observed by the HyperLogLog at key(s).",
		Complexity: "O(1) with a very small average constant time when called with a single key. O(N) with N being the number of keys, and much bigger constant times, when called with multiple keys.",
		Limits:     "of several keys reads each by itself, as MGET does; of one key it is a write if the key has changed since the last one, because the value keeps the estimate"},
	{Name: "pfmerge", Op: OpPFMerge, Route: RouteSlot, Arity: -2, Flags: FlagWrite | FlagDenyOOM, Categories: CatHyperLogLog,
		KeySpecs: []KeySpec{{First: 1, Last: 1, Step: 1, Flags: KeyRW | KeyAccess | KeyInsert}, {First: 2, Last: -1, Step: 1, Flags: KeyRO | KeyAccess}},
		Since:    "2.8.9", Summary: "Merge N different HyperLogLogs into a single one.",
		Complexity: "O(N) to merge N HyperLogLogs, but with high constant times.",
		Differs:    ofOneSlot},
}
