package mutation

// watchRules: whoever watches a key is told of every write that is chosen.
var watchRules = []mutation{
	{name: "watch-untold", rule: "Keys that are watched", effect: "a replica stages a version and does not tell who watches the key",
		caught: scenario(node, "TestAReplicaTellsWhatItStages", `never satisfied`), edits: []edit{
			{"node/replica/store.go", `	if s.watched.Any(slot) {
		s.watched.Changed(`, `	if false {
		s.watched.Changed(`}}},
	{name: "watch-clear-untold", rule: "Keys that are watched", effect: "a slot is cleared, and nobody is told",
		caught: scenario(node, "TestAReplicaTellsWhatItStages", `never satisfied`), edits: []edit{
			{"node/replica/store.go", `if err == nil && s.watched.Any(slot) {`, `if false {`}}},
	{name: "watch-one", rule: "Keys that are watched", effect: "one replica that watches is enough",
		caught: scenario("proxy/route", "TestWhatNoMajorityWatchesMayHaveChanged", `never satisfied`), edits: []edit{
			{"proxy/route/watch.go", `w.sure = view.table.Spare(w.slot, func(id uint16) bool { return hears(w.held, view.node(id)) }) >= 0;`, `w.sure = len(w.held) > 0;`}}},
	{name: "watch-no-look", rule: "Keys that are watched", effect: "what was written before a majority watched is not looked at",
		caught: scenario("proxy/route", "TestWhoWatchesAKeyIsTold", `never satisfied`), edits: []edit{
			{"proxy/route/watch.go", `if w.weigh(view) && w.kind != protocol.WatchOnce {`, `if w.weigh(view) && false {`}}},
	{name: "watch-lost", rule: "Keys that are watched", effect: "a member counts though its link was lost",
		caught: scenario("proxy/route", "TestAWatchOutlivesItsLinks", `never satisfied`), edits: []edit{
			{"proxy/route/watch.go", `		w.held = slices.Delete(w.held, i, i+1)
		if view != nil {
			w.weigh(view)`, `		if view != nil {
			w.weigh(view)`}}},
	{name: "watch-moved", rule: "Keys that are watched", effect: "the new members of a slot are not asked to watch",
		caught: scenario("proxy/route", "TestAWatchFollowsItsSlot", `never satisfied`), edits: []edit{
			{"proxy/route/watch.go", `			ws.ask(view, w)
			w.weigh(view)`, `			w.weigh(view)`}}},
	{name: "watch-lost-told", rule: "Keys that are watched", effect: "a link is lost, and what was told over it is not made up for",
		caught: scenario("proxy/route", "TestWhoKnowsAKeyIsTold", `which was not told`), edits: []edit{
			{"proxy/route/watch.go", `told = ws.due(told, w, view, l) // what it has told may be lost`, ``}}},
	{name: "watch-hung", rule: "Keys that are watched", effect: "a node is silent, and what it may have told is waited for",
		caught: scenario("proxy/route", "TestWhoKnowsAKeyIsTold", `which was not told`), edits: []edit{
			{"proxy/route/watch.go", `lost || since && w.kind`, `since && w.kind`}}},
	{name: "watch-silent-counts", rule: "Keys that are watched", effect: "a node that is silent counts among those that watch",
		caught: scenario("proxy/route", "TestWhoKnowsAKeyIsTold", `which was not told`), edits: []edit{
			{"proxy/route/watch.go", `return slices.Contains(held, l) && l.up.Load() }`, `return slices.Contains(held, l) }`}}},
	{name: "watch-prefix-first", rule: "Keys that are watched", effect: "of a version the first replica that tells is heard only",
		caught: scenario("proxy/route", "TestWhoKnowsAKeyIsTold", `which was not told`), edits: []edit{
			{"proxy/route/prefix.go", `tell := !h.most`, `tell := len(h.by) == 1`}}},
	{name: "watch-prefix-lost", rule: "Keys that are watched", effect: "a link is lost, and who watches a prefix keeps what he knows",
		caught: scenario("proxy/route", "TestALostLinkIsTold", `may be lost`), edits: []edit{
			{"proxy/route/prefix.go", `	list = w.weigh(view, list)
	if w.begun {`, `	list = w.weigh(view, list)
	if false {`}}},
	{name: "watch-prefix-since", rule: "Keys that are watched", effect: "what was written before a majority was heard again is not told to who watches a prefix",
		caught: scenario("proxy/route", "TestWhoKnowsAKeyIsTold", `which was not told`), edits: []edit{
			{"proxy/route/prefix.go", `if w.begun && w.sure && !was {`, `if w.begun && w.sure && !was && false {`}}},
	{name: "watch-prefix-alone", rule: "Keys that are watched", effect: "no majority is heard, and who watches a prefix keeps what he knows",
		caught: scenario("proxy/route", "TestWhoKnowsAKeyIsTold", `which was not told`), edits: []edit{
			{"proxy/route/prefix.go", `if many || w.begun && !w.sure {`, `if many {`}}},
	{name: "watch-gather-most", rule: "Keys that are watched", effect: "a version is told when a majority has told of it, and not before, however long that takes",
		caught: scenario("proxy/route", "TestWhoKnowsAKeyIsTold", `which was not told`), edits: []edit{
			{"proxy/route/gather.go", `if !d.most && d.ticks < maxTicks {`, `if !d.most {`}}},
	{name: "watch-gather-first", rule: "Keys that are watched", effect: "the keys of one write are told one by one",
		caught: scenario("proxy/route", "TestAVersionIsToldOnce", `Not equal`), edits: []edit{
			{"proxy/route/gather.go", `		if !d.most {
			w.arm()
			return list
		}`, `		d.ticks = maxTicks`}}},
	{name: "watch-own-any", rule: "Keys that are watched", effect: "who has written a key is not told of other versions of it",
		caught: scenario("proxy/session", "TestWhatOthersWriteIsTold", `was not told`), edits: []edit{
			{"proxy/session/own.go", `o.known[v] = struct{}{}`, `o.known[ownVersion{slot: v.slot}] = struct{}{}`},
			{"proxy/session/own.go", `v := ownVersion{c.Slot, c.Version}`, `v := ownVersion{slot: c.Slot}`}}},
	{name: "watch-own-slot", rule: "Keys that are watched", effect: "a version is taken for that of the same number of another slot",
		caught: scenario("proxy/session", "TestOwnVersionsAreBounded", `Should be false`), edits: []edit{
			{"proxy/session/own.go", `o.known[v] = struct{}{}`, `o.known[ownVersion{version: v.version}] = struct{}{}`},
			{"proxy/session/own.go", `v := ownVersion{c.Slot, c.Version}`, `v := ownVersion{version: c.Version}`}}},
	{name: "watch-own-early", rule: "Keys that are watched", effect: "what is told before the answer to a write is told to who has written",
		caught: scenario("proxy/session", "TestWhatOthersWriteIsTold", `of its own version`), edits: []edit{
			{"proxy/session/own.go", `case !o.writes:`, `case true:`}}},
	{name: "watch-own-for-ever", rule: "Keys that are watched", effect: "what is told waits for the answer to a write, however long that takes",
		caught: scenario("proxy/session", "TestAnAnswerThatDoesNotComeIsNotWaitedFor", `nothing was told`), edits: []edit{
			{"proxy/session/own.go", `cmp.Or(o.patience, ownPatience), func() {`, `cmp.Or(o.patience, time.Hour), func() {`}}},
	{name: "watch-own-expired", rule: "Keys that are watched", effect: "the version that ends a value that has expired is taken for its writer's",
		caught: scenario("node/replica", "TestOnlyOneCommandsVersionsAreSaid", `an expired one`), edits: []edit{
			{"node/replica/version.go", `effect.Kind != record.Unchanged && !req.Expired`, `effect.Kind != record.Unchanged`}}},
	{name: "watch-own-proposed", rule: "Keys that are watched", effect: "whatever a home proposes next is taken for the effect of the command",
		caught: scenario("node/replica", "TestOnlyOneCommandsVersionsAreSaid", `another key`), edits: []edit{
			{"node/replica/version.go", `m.Kind == register.Accept && bytes.Equal(m.Key, u.req.Args[1])`, `m.Kind == register.Accept && len(m.Key) > 0`},
			{"node/replica/version.go", `	"bytes"

`, ``}}},
	{name: "watch-quorum", rule: "Keys that are watched", effect: "who is told of an entry that is not chosen yet reads what a quorum has",
		caught: scenario("proxy/session", "TestWhoWaitsReadsAtTheHome", `i/o timeout`), edits: []edit{
			{"proxy/session/entries.go", `s.readEntries(&w.blocking, true)`, `s.readEntries(&w.blocking, false)`}}},
}
