package command

// pubSubNote is what COMPATIBILITY.md says of all messages.
const pubSubNote = "A message published through any proxy is heard at every proxy, at most once. Names of channels and patterns may have 16 KiB, and a message 32 MiB. " +
	"Messages for a client never leave within a reply: what it publishes to itself in a transaction, in RESP3, comes behind the reply of EXEC."

const flagsSubscribe = FlagPubSub | FlagNoScript | FlagLoading | FlagStale

// shardChannels says where channels of shards are.
func shardChannels(last int) []KeySpec {
	return []KeySpec{{First: 1, Last: last, Step: 1, Flags: KeyNot}}
}

// pubSubCommands are about messages.
var pubSubCommands = []*Command{
	{Name: "psubscribe", Op: OpPSubscribe, Route: RouteProxy, Arity: -2, Flags: flagsSubscribe, Categories: CatPubSub,
		Since: "2.0.0", Summary: "Listen for messages published to channels matching the given patterns",
		Complexity: "O(N) where N is the number of patterns the client is already subscribed to."},
	{Name: "publish", Op: OpPublish, Route: RouteProxy, Arity: 3, Flags: FlagPubSub | FlagLoading | FlagStale | FlagFast, Categories: CatPubSub,
		Since: "2.0.0", Summary: "Post a message to a channel",
		Complexity: "O(N+M) where N is the number of clients subscribed to the receiving channel and M is the total number of subscribed patterns (by any client).",
		Limits:     "is executed behind the commands on keys in a transaction. What a script publishes leaves when the script is done, with all that it has written"},
	{Name: "pubsub", Op: OpPubSub, Route: RouteProxy, Arity: -2,
		Since: "2.8.0", Summary: "A container for Pub/Sub commands",
		Complexity: "Depends on subcommand.",
		Subcommands: []*Command{
			{Name: "pubsub|channels", Arity: -2, Flags: FlagPubSub | FlagLoading | FlagStale, Categories: CatPubSub,
				Since: "2.8.0", Summary: "List active channels",
				Complexity: "O(N) where N is the number of active channels, and assuming constant time pattern matching (relatively short channels and patterns)"},
			{Name: "pubsub|help", Arity: 2, Flags: FlagLoading | FlagStale,
				Since: "6.2.0", Summary: "Show helpful text about the different subcommands",
				Complexity: "O(1)"},
			{Name: "pubsub|numpat", Arity: 2, Flags: FlagPubSub | FlagLoading | FlagStale, Categories: CatPubSub,
				Since: "2.8.0", Summary: "Get the count of unique patterns pattern subscriptions",
				Complexity: "O(1)"},
			{Name: "pubsub|numsub", Arity: -2, Flags: FlagPubSub | FlagLoading | FlagStale, Categories: CatPubSub,
				Since: "2.8.0", Summary: "Get the count of subscribers for channels",
				Complexity: "O(N) for the NUMSUB subcommand, where N is the number of requested channels"},
			{Name: "pubsub|shardchannels", Arity: -2, Flags: FlagPubSub | FlagLoading | FlagStale, Categories: CatPubSub,
				Since: "7.0.0", Summary: "List active shard channels",
				Complexity: "O(N) where N is the number of active shard channels, and assuming constant time pattern matching (relatively short shard channels)."},
			{Name: "pubsub|shardnumsub", Arity: -2, Flags: FlagPubSub | FlagLoading | FlagStale, Categories: CatPubSub,
				Since: "7.0.0", Summary: "Get the count of subscribers for shard channels",
				Complexity: "O(N) for the SHARDNUMSUB subcommand, where N is the number of requested shard channels"},
		}},
	{Name: "punsubscribe", Op: OpPUnsubscribe, Route: RouteProxy, Arity: -1, Flags: flagsSubscribe, Categories: CatPubSub,
		Since: "2.0.0", Summary: "Stop listening for messages posted to channels matching the given patterns",
		Complexity: "O(N+M) where N is the number of patterns the client is already subscribed and M is the number of total patterns subscribed in the system (by any client)."},
	{Name: "spublish", Op: OpSPublish, Route: RouteProxy, Arity: 3, Flags: FlagPubSub | FlagLoading | FlagStale | FlagFast, Categories: CatPubSub,
		KeySpecs: shardChannels(1),
		Since:    "7.0.0", Summary: "Post a message to a shard channel",
		Complexity: "O(N) where N is the number of clients subscribed to the receiving shard channel.",
		Limits:     "is executed behind the commands on keys in a transaction. What a script publishes leaves when the script is done, with all that it has written"},
	{Name: "ssubscribe", Op: OpSSubscribe, Route: RouteProxy, Arity: -2, Flags: flagsSubscribe, Categories: CatPubSub,
		KeySpecs: shardChannels(-1),
		Since:    "7.0.0", Summary: "Listen for messages published to the given shard channels",
		Complexity: "O(N) where N is the number of shard channels to subscribe to."},
	{Name: "subscribe", Op: OpSubscribe, Route: RouteProxy, Arity: -2, Flags: flagsSubscribe, Categories: CatPubSub,
		Since: "2.0.0", Summary: "Listen for messages published to the given channels",
		Complexity: "O(N) where N is the number of channels to subscribe to."},
	{Name: "sunsubscribe", Op: OpSUnsubscribe, Route: RouteProxy, Arity: -1, Flags: flagsSubscribe, Categories: CatPubSub,
		KeySpecs: shardChannels(-1),
		Since:    "7.0.0", Summary: "Stop listening for messages posted to the given shard channels",
		Complexity: "O(N) where N is the number of clients already subscribed to a shard channel."},
	{Name: "unsubscribe", Op: OpUnsubscribe, Route: RouteProxy, Arity: -1, Flags: flagsSubscribe, Categories: CatPubSub,
		Since: "2.0.0", Summary: "Stop listening for messages posted to the given channels",
		Complexity: "O(N) where N is the number of clients already subscribed to a channel."},
}
