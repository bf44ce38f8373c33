package command

const flagsLook = FlagAdmin | FlagNoScript | FlagLoading | FlagStale

// ofOneProxy is a limit of what shows what clients do.
const ofOneProxy = "of the proxy that the client is connected to, not of the cluster"

// aclLimits is what is not as in Redis of ACL as a whole.
const aclLimits = "users are those of the cluster, the same on all proxies within a second, unless a proxy has an `--acl-file`. A name may have 256 bytes, the rules of a user 64 KiB, and those of all users 1 MiB. " +
	"Subscribers that lose a channel are disconnected when ACL LOAD changes it, too"

// lookCommands show what a proxy is, and does.
var lookCommands = []*Command{
	{Name: "monitor", Op: OpMonitor, Route: RouteProxy, Arity: 1, Flags: flagsLook,
		Since: "1.0.0", Summary: "Listen for all requests received by the server in real time",
		Limits: "of the clients of the proxy that the client is connected to. Shows what scripts call when they are done, up to 256 KiB of it, and not if nothing of them was done"},
	{Name: "acl", Op: OpACL, Route: RouteProxy, Arity: -2,
		Since: "6.0.0", Summary: "A container for Access List Control commands ",
		Complexity: "Depends on subcommand.",
		Limits:     aclLimits,
		Subcommands: []*Command{
			{Name: "acl|cat", Arity: -2, Flags: FlagNoScript | FlagLoading | FlagStale,
				Since: "6.0.0", Summary: "List the ACL categories or the commands inside a category",
				Complexity: "O(1) since the categories and commands are a fixed set.",
				Differs:    "lists the commands that are supported, by name"},
			{Name: "acl|deluser", Arity: -3, Flags: flagsLook,
				Since: "6.0.0", Summary: "Remove the specified ACL users and the associated rules",
				Complexity: "O(1) amortized time considering the typical user."},
			{Name: "acl|dryrun", Arity: -4, Flags: flagsLook,
				Since: "7.0.0", Summary: "Returns whether the user can execute the given command without executing the command.",
				Complexity: "O(1).",
				Limits:     "looks at no keys of commands that Quoll refuses"},
			{Name: "acl|genpass", Arity: -2, Flags: FlagNoScript | FlagLoading | FlagStale,
				Since: "6.0.0", Summary: "Generate a pseudorandom secure password to use for ACL users",
				Complexity: "O(1)"},
			{Name: "acl|getuser", Arity: 3, Flags: flagsLook,
				Since: "6.0.0", Summary: "Get the rules for a specific ACL user",
				Complexity: "O(N). Where N is the number of password, command and pattern rules that the user has."},
			{Name: "acl|help", Arity: 2, Flags: FlagLoading | FlagStale,
				Since: "6.0.0", Summary: "Show helpful text about the different subcommands",
				Complexity: "O(1)"},
			{Name: "acl|list", Arity: 2, Flags: flagsLook,
				Since: "6.0.0", Summary: "List the current ACL rules in ACL config file format",
				Complexity: "O(N). Where N is the number of configured users."},
			{Name: "acl|load", Arity: 2, Flags: flagsLook,
				Since: "6.0.0", Summary: "Reload the ACLs from the configured ACL file",
				Complexity: "O(N). Where N is the number of configured users."},
			{Name: "acl|log", Arity: -2, Flags: flagsLook,
				Since: "6.0.0", Summary: "List latest events denied because of ACLs in place",
				Complexity: "O(N) with N being the number of entries shown.",
				Limits:     ofOneProxy},
			{Name: "acl|save", Arity: 2, Flags: flagsLook,
				Since: "6.0.0", Summary: "Save the current ACL rules in the configured ACL file",
				Complexity: "O(N). Where N is the number of configured users."},
			{Name: "acl|setuser", Arity: -3, Flags: flagsLook,
				Since: "6.0.0", Summary: "Modify or create the rules for a specific ACL user",
				Complexity: "O(N). Where N is the number of rules provided."},
			{Name: "acl|users", Arity: 2, Flags: flagsLook,
				Since: "6.0.0", Summary: "List the username of all the configured ACL rules",
				Complexity: "O(N). Where N is the number of configured users."},
			{Name: "acl|whoami", Arity: 2, Flags: FlagNoScript | FlagLoading | FlagStale,
				Since: "6.0.0", Summary: "Return the name of the user associated to the current connection",
				Complexity: "O(1)"},
		}},
	{Name: "debug", Op: OpDebug, Route: RouteProxy, Arity: -2, Flags: flagsLook,
		Since: "1.0.0", Summary: "A container for debugging commands",
		Complexity: "Depends on subcommand.",
		Limits: "SLEEP keeps the client waiting that asks, and nobody else; STRINGMATCH-LEN is there, and OBJECT without addresses. All else is refused as by a Redis whose " +
			"`enable-debug-command` is `no`"},
	{Name: "lolwut", Op: OpLolwut, Route: RouteProxy, Arity: -1, Flags: FlagReadOnly | FlagFast,
		Since: "5.0.0", Summary: "Display some computer art and the Redis version",
		Differs: "shows no art"},
	{Name: "role", Op: OpRole, Route: RouteProxy, Arity: 1, Flags: FlagNoScript | FlagLoading | FlagStale | FlagFast, Categories: CatAdmin | CatDangerous,
		Since: "2.8.12", Summary: "Return the role of the instance in the context of replication",
		Complexity: "O(1)",
		Limits:     "that of a master without replicas: a proxy answers reads and writes, and each key is on several nodes; with `--replica-listen` that of a master or a replica, without offsets"},
}
