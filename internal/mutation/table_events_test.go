package mutation

// eventRules: what happens to keys is told once, and is true.
var eventRules = []mutation{
	{name: "events-blind", rule: "Events of keys", effect: "a write is told of that has not looked at what was there, so that nobody knows whether the key is new",
		caught: scenario(register, "TestWhoTellsLooks", `Not equal`), edits: []edit{
			{"node/register/request.go", `r.blind = r.blind && events&(notify.New|notify.Expired) == 0`, ``}}},
	{name: "events-gone", rule: "Events of keys", effect: "a key that is gone already is said to have expired",
		caught: scenario("node/replica", "TestEventsPrecedeTheReply", `Should be empty`), edits: []edit{
			{"node/replica/env.go", `if req.Expired {`, `if true {`}}},
	{name: "events-left", rule: "Events of keys", effect: "what a request before has told is told again",
		caught: scenario(register, "TestWhoTellsLooks", `of the request before nothing is left`), edits: []edit{
			{"node/register/request.go", `r.cmd.Events, r.cmd.Expired = 0, false`, ``}}},
}
