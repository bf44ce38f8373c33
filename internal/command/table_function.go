package command

const flagsLibraries = FlagWrite | FlagNoScript

// toAllShards are the tips for what changes all functions of a Redis Cluster.
var toAllShards = []string{"request_policy:all_shards", "response_policy:all_succeeded"}

// functionCommand keeps libraries of functions.
var functionCommand = &Command{Name: "function", Op: OpFunction, Route: RouteProxy, Arity: -2,
	Since: "7.0.0", Summary: "A container for function commands",
	Complexity: "Depends on subcommand.",
	Subcommands: []*Command{
		{Name: "function|delete", Arity: 3, Flags: flagsLibraries, Categories: CatScripting, Tips: toAllShards,
			Since: "7.0.0", Summary: "Delete a function by name",
			Complexity: "O(1)"},
		{Name: "function|dump", Arity: 2, Flags: FlagNoScript, Categories: CatScripting,
			Since: "7.0.0", Summary: "Dump all functions into a serialized binary payload",
			Complexity: "O(N) where N is the number of functions"},
		{Name: "function|flush", Arity: -2, Flags: flagsLibraries, Categories: CatScripting, Tips: toAllShards,
			Since: "7.0.0", Summary: "Deleting all functions",
			Complexity: "O(N) where N is the number of functions deleted"},
		{Name: "function|help", Arity: 2, Flags: FlagLoading | FlagStale, Categories: CatScripting,
			Since: "7.0.0", Summary: "Show helpful text about the different subcommands",
			Complexity: "O(1)"},
		{Name: "function|kill", Arity: 2, Flags: FlagNoScript | FlagAllowBusy, Categories: CatScripting,
			Tips:  []string{"request_policy:all_shards", "response_policy:one_succeeded"},
			Since: "7.0.0", Summary: "Kill the function currently in execution.",
			Complexity: "O(1)",
			Limits:     killLimits},
		{Name: "function|list", Arity: -2, Flags: FlagNoScript, Categories: CatScripting,
			Tips:  []string{"nondeterministic_output_order"},
			Since: "7.0.0", Summary: "List information about all the functions",
			Complexity: "O(N) where N is the number of functions"},
		{Name: "function|load", Arity: -3, Flags: flagsLibraries | FlagDenyOOM, Categories: CatScripting, Tips: toAllShards,
			Since: "7.0.0", Summary: "Create a function with the given arguments (name, code, description)",
			Complexity: "O(1) (considering compilation time is redundant)",
			Limits:     "the code of all libraries may be 32 MiB"},
		{Name: "function|restore", Arity: -3, Flags: flagsLibraries | FlagDenyOOM, Categories: CatScripting, Tips: toAllShards,
			Since: "7.0.0", Summary: "Restore all the functions on the given payload",
			Complexity: "O(N) where N is the number of functions on the payload",
			Limits:     "limited as FUNCTION LOAD"},
		{Name: "function|stats", Arity: 2, Flags: FlagNoScript | FlagAllowBusy, Categories: CatScripting,
			Tips:  []string{"nondeterministic_output", "request_policy:all_shards", "response_policy:special"},
			Since: "7.0.0", Summary: "Return information about the function currently running (name, description, duration)",
			Complexity: "O(1)",
			Limits:     "shows the function that has been running for the longest time on any node, if that is more than a tenth of a second"},
	}}
