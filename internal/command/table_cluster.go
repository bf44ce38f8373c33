package command

// clusterCommands are what clients of a Redis Cluster ask first; a proxy answers them as
// one server that holds every slot.
var clusterCommands = []*Command{
	{Name: "cluster", Op: OpCluster, Route: RouteProxy, Arity: -2,
		Since: "3.0.0", Summary: "A container for cluster commands",
		Complexity: "Depends on subcommand.",
		Without: []Without{{"to its clients a proxy is a single server, a Redis with `cluster support disabled`", `
			addslots addslotsrange bumpepoch count-failure-reports countkeysinslot delslots delslotsrange failover flushslots forget getkeysinslot info links meet myid
			nodes replicas replicate reset saveconfig set-config-epoch setslot shards slaves slots`}},
		Subcommands: []*Command{
			{Name: "cluster|help", Arity: 2, Flags: FlagLoading | FlagStale,
				Since: "5.0.0", Summary: "Show helpful text about the different subcommands",
				Complexity: "O(1)",
				Differs:    "are answered. A Redis with `cluster support disabled` refuses them as all else of CLUSTER"},
			{Name: "cluster|keyslot", Arity: 3, Flags: FlagStale,
				Since: "3.0.0", Summary: "Returns the hash slot of the specified key",
				Complexity: "O(N) where N is the number of bytes in the key",
				Differs:    "are answered. A Redis with `cluster support disabled` refuses them as all else of CLUSTER"},
		}},
	{Name: "readonly", Op: OpReadOnly, Route: RouteProxy, Arity: 1, Flags: FlagLoading | FlagStale | FlagFast, Categories: CatConnection,
		Since: "3.0.0", Summary: "Enables read queries for a connection to a cluster replica node",
		Complexity: "O(1)"},
	{Name: "readwrite", Op: OpReadWrite, Route: RouteProxy, Arity: 1, Flags: FlagLoading | FlagStale | FlagFast, Categories: CatConnection,
		Since: "3.0.0", Summary: "Disables read queries for a connection to a cluster replica node",
		Complexity: "O(1)"},
}
