package command

// bitmapCommands work on the bits of strings.
var bitmapCommands = []*Command{
	{Name: "setbit", Op: OpSetBit, Route: RouteWrite, Arity: 4, Flags: FlagWrite | FlagDenyOOM, Categories: CatBitmap,
		KeySpecs: oneKey(KeyRW | KeyAccess | KeyUpdate),
		Since:    "2.2.0", Summary: "Sets or clears the bit at offset in the string value stored at key",
		Complexity: "O(1)"},
	{Name: "getbit", Op: OpGetBit, Route: RouteRead, Arity: 3, Flags: FlagReadOnly | FlagFast, Categories: CatBitmap,
		KeySpecs: oneKey(KeyRO | KeyAccess),
		Since:    "2.2.0", Summary: "Returns the bit value at offset in the string value stored at key",
		Complexity: "O(1)"},
	{Name: "bitcount", Op: OpBitCount, Route: RouteRead, Arity: -2, Flags: FlagReadOnly, Categories: CatBitmap,
		KeySpecs: oneKey(KeyRO | KeyAccess),
		Since:    "2.6.0", Summary: "Count set bits in a string",
		Complexity: "O(N)"},
	{Name: "bitpos", Op: OpBitPos, Route: RouteRead, Arity: -3, Flags: FlagReadOnly, Categories: CatBitmap,
		KeySpecs: oneKey(KeyRO | KeyAccess),
		Since:    "2.8.7", Summary: "Find first bit set or clear in a string",
		Complexity: "O(N)"},
	{Name: "bitfield", Op: OpBitField, Route: RouteWrite, Arity: -2, Flags: FlagWrite | FlagDenyOOM, Categories: CatBitmap,
		KeySpecs: oneKeyNoted(KeyRW|KeyAccess|KeyUpdate|KeyVariable, "This command allows both access and modification of the key"),
		Since:    "3.2.0", Summary: "Perform arbitrary bitfield integer operations on strings",
		Complexity: "O(1) for each subcommand specified"},
	{Name: "bitfield_ro", Op: OpBitFieldRO, Route: RouteRead, Arity: -2, Flags: FlagReadOnly | FlagFast, Categories: CatBitmap,
		KeySpecs: oneKey(KeyRO | KeyAccess),
		Since:    "6.0.0", Summary: "Perform arbitrary bitfield integer operations on strings. Read-only variant of BITFIELD",
		Complexity: "O(1) for each subcommand specified"},
}
