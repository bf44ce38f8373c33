package mutation

// hashRules: where a home has short values, and how these are overwritten; what a hash is to the register, and what its commands decide at the home. That a delta of fields is for no absent
// key is not among them: what it says of all fields is never shorter than the hash, so that none is made.
var hashRules = []mutation{
	{name: "head-lent", rule: "The value of a head", effect: "a home takes for its head whatever its replica holds of the key",
		caught: scenario(register, "TestAHeadIsNotShownOfAnotherTerm", `is sent as`), edits: []edit{
			{"node/register/own.go", `case rec.Version != version:`, `case version.IsZero():`},
		}},
	{name: "head-lent-early", rule: "The value of a head", effect: "a home takes for its head what its replica has not executed yet",
		caught: search("hashes", 300), edits: []edit{
			{"node/register/own.go", `	version, x := ks.head.Version, h.unserved(ks)
	switch {
	case x == nil:
	case x.State.Live():
		return x.State, true
	default:
		version = x.Base
	}
	rec, _, err := h.local.Read(ks.key)
	switch {
	case err != nil:
		h.fail(err)
	case rec.Version != version:
		h.stepDown()
	case x != nil:
		p, ok := record.PatchOf(rec.State, x.Delta)
		return p.Of(rec.State, nil), ok
	default:
`, `	rec, _, err := h.local.Read(ks.key)
	switch {
	case err != nil:
		h.fail(err)
	default:
`},
		}},
	{name: "hash-patch-lagging", rule: "Patches", effect: "a replica that lags overwrites the bytes of whatever value it has",
		caught: search("hashes", 300), edits: []edit{
			{"node/register/acceptor.go", `if rec.Version != m.Base {`, `if _, patches := record.PatchOf(rec.State, m.Delta); rec.Version != m.Base && !patches {`},
		}},
	{name: "hash-patch-place", rule: "Patches", effect: "a patch says a place that is not that of the field's value",
		caught: search("hashes", 300), edits: []edit{
			{"node/datatype/hash_write.go", `patched(req, st, old.end-len(value), value)`, `patched(req, st, old.start, value)`},
		}},
	{name: "hash-patch-length", rule: "Patches", effect: "a field that gets shorter is patched",
		caught: scenario(datatype, "TestWhatIsAPatch", `HSET k field004 w`), edits: []edit{
			{"node/datatype/hash_write.go", `if old.found && len(old.value) == len(value) {`, `if old.found && len(old.value) >= len(value) {`},
		}},
	{name: "hash-patch-shared", rule: "Patches", effect: "a value that is shared is patched",
		caught: scenario(records, "TestWhatAPatchIsNotOf", `a shared value`), edits: []edit{
			{"internal/record/patch.go", `|| len(st.Value) > CopiedValue {`, `{`},
		}},
	{name: "hash-patch-version", rule: "Patches", effect: "what is patched keeps its version",
		caught: scenario(memory, "TestConformance/Patch", `(?s)expected: .*actual`), edits: []edit{
			{"node/engine/table/entry.go", `	e.version = version
	if arena.Spoils {`, `	if arena.Spoils {`},
		}},
	{name: "hash-patch-unwritten", rule: "Patches", effect: "a store does not hear of what is overwritten",
		caught: scenario(disk, "TestAPatchIsRepeated", `(?s)expected: .*actual`), edits: []edit{
			{"node/engine/disk/slot.go", `	if err := e.journalChange(s, key, next, base, delta); err != nil {
		return err
	}
	s.discount(`, `	s.discount(`},
			{"node/engine/disk/slot.go", `	s.count(pos, key, next)
	e.change(s, ref, ref.Marks()|used)
`, `	s.count(pos, key, next)
`},
		}},
	{name: "hash-patch-digest", rule: "Patches", effect: "digests are those of the versions before",
		caught: scenario(memory, "TestConformance/Patch", `(?s)expected: .*actual`), edits: []edit{
			{"node/engine/memory/slot.go", `	s.counters.Renew(pos, old.Version, version)
`, ""},
		}},
	{name: "hash-delta-base", rule: "Hashes", effect: "a delta of fields is applied to whatever hash is there",
		caught: search("hashes", 300), edits: []edit{
			{"node/register/acceptor.go", `if rec.Version != m.Base {`, `if rec.Version != m.Base && rec.State.Type != record.Hash {`},
		}},
	{name: "hash-blind", rule: "Hashes", effect: "an HSET does not look for the fields that are there",
		caught: search("hashes", 300), edits: []edit{
			{"internal/command/blind.go", `	case OpSet:
`, `	case OpHSet:
		return true
	case OpSet:
`},
		}},
	{name: "hash-increment", rule: "Hashes", effect: "HINCRBY replicates the increment, not what came of it",
		caught: search("hashes", 300), edits: []edit{
			{"node/datatype/hash_write.go", `	return setField(reply, len(dst), st, req, old, reply[len(dst)+len(":"):len(reply)-len("\r\n")])
`, `	reply, eff := setField(reply, len(dst), st, req, old, reply[len(dst)+len(":"):len(reply)-len("\r\n")])
	if eff.Kind == record.Changed {
		eff.Delta = edit{list: []fieldChange{{field: req.Args[2], value: req.Args[3]}}}.appendDelta(nil)
	}
	return reply, eff
`},
		}},
	{name: "hash-expiry", rule: "Hashes", effect: "the home forgets the expiry of a hash when it changes a field, replicas with a delta do not",
		caught: search("hashes", 300), edits: []edit{
			{"node/datatype/hash_edit.go", `State: next.state(old.ExpireAt)}`, `State: next.state(0)}`},
		}},
	{name: "hash-delta-keeps", rule: "Hashes", effect: "what a delta removes stays at the replicas",
		caught: search("hashes", 300), edits: []edit{
			{"node/datatype/hash_edit.go", `		e = e.add(c)
		body = body[end:]
`, `		if !c.remove || len(e.list) == 0 {
			c.remove = false
			e = e.add(c)
		}
		body = body[end:]
`},
		}},
	{name: "hash-empty", rule: "Hashes", effect: "a hash without fields lives",
		caught: search("hashes", 600), edits: []edit{
			{"node/datatype/hash_edit.go", `	if next.count() == 0 {
		if !old.Live() {
			return noEffect, true
		}
		return deleted(), true
	}
`, ""},
			{"node/datatype/hash_edit.go", `	if count == 0 {
		return hash{}
	}
`, ""},
		}},
	{name: "hash-empty-delta", rule: "Hashes", effect: "a delta may leave a hash without fields; a home that removes the last one makes none",
		caught: scenario(datatype, "TestTheLastFieldIsNoDelta", `in chain|Expected error with|An error is expected`), edits: []edit{
			{"node/datatype/hash_edit.go", `if next.count() == 0 || next.size() > MaxCollectionLen {`, `if next.size() > MaxCollectionLen {`},
		}},
	{name: "hash-over-string", rule: "Hashes", effect: "HSET makes a hash of a string",
		caught: search("hashes", 300), edits: []edit{
			{"node/datatype/hash_write.go", `		return refuse(dst, errArity(req))
	}
	if holdsOther(st, record.Hash) {`, `		return refuse(dst, errArity(req))
	}
	if false {`},
		}},
	{name: "hash-setnx", rule: "Hashes", effect: "HSETNX replaces what is there",
		caught: search("hashes", 300), edits: []edit{
			{"node/datatype/hash_write.go", `	if old.found {
		return appendBool(dst, false), noEffect`, `	if false {
		return appendBool(dst, false), noEffect`},
		}},
	{name: "hash-nothing", rule: "Hashes", effect: "HDEL of what is not there is a write",
		caught: scenario(datatype, "TestWhatSetsTheSameIsAWrite", `HDEL k b`), edits: []edit{
			{"node/datatype/hash_write.go", `	if found == 0 {
		return reply, noEffect
	}
`, ""},
		}},
	{name: "hash-twice", rule: "Hashes", effect: "one command that names a field twice puts it there twice",
		caught: scenario(datatype, "TestHashes", `(?s)expected: ":2.*actual  : ":3`), edits: []edit{
			{"node/datatype/hash_edit.go", `if i := e.find(c.field); i >= 0 {
		e.list[i] = c`, `if i := e.find(c.field); i >= len(e.list) {
		e.list[i] = c`},
		}},
	{name: "hash-restored-twice", rule: "Hashes", effect: "a hash that has a field twice is restored",
		caught: scenario(datatype, "TestAFieldIsInAHashOnce", `a field twice`), edits: []edit{
			{"node/datatype/parts/build.go", `if string(keyA) == string(keyB) {`, `if false && string(keyA) == string(keyB) {`},
		}},
	{name: "hash-long", rule: "Hashes", effect: "a hash grows beyond the longest value",
		caught: scenario(datatype, "TestHashesAreLimited", `(?s)expected: .*actual  : ":1`), edits: []edit{
			{"node/datatype/hash_edit.go", `if size > longest {`, `if false {`},
		}},
	{name: "hash-form", rule: "Hashes", effect: "the home keeps a hash in parts until it is much smaller than one that is sent whole would have to be",
		caught: scenario(datatype, "TestAReplicaHasTheFormOfTheHome", `replica since`), edits: []edit{
			{"node/datatype/hash.go", `if h.count() <= packedFields && h.size() <= packedSize {`, `if h.count() <= packedFields && h.size() <= packedSize && (h.parts == nil || h.count() <= packedFields/2) {`},
		}},
	{name: "hash-random", rule: "Hashes", effect: "HRANDFIELD, SPOP and the like always choose the same",
		caught: scenario(node, "TestARandomElementIsTheNodesChoice", `should have 4 item\(s\), but has 1`), edits: []edit{
			{"node/replica/env.go", `		req.Random = h.opt.Random.Uint64()`, `		req.Random = 4`},
		}},
	{name: "hash-cursor-place", rule: "Hashes", effect: "a cursor of HSCAN is a place in the hash, which moves when others go",
		caught: scenario(datatype, "TestACursorOutlivesWhatWasScanned", `were not returned`), edits: []edit{
			{"node/datatype/scan.go", `	for name, value := range all {
		switch p := parts.Position(name); {`, `	all, i := e.all(), uint64(0)
	for name, value := range all {
		i++
		switch p := i * (parts.Positions / uint64(e.count()+1)); {`},
		}},
	{name: "hash-cursor-after", rule: "Hashes", effect: "HSCAN goes on after the position of its cursor, not with it",
		caught: scenario(datatype, "TestACursorOutlivesWhatWasScanned", `the field at the cursor`), edits: []edit{
			{"node/datatype/scan.go", `start <= p && p < end`, `start < p && p < end`},
		}},
	{name: "hash-cursor-node", rule: "Hashes", effect: "positions of fields are of one node, or of one version of it",
		caught: scenario(datatype, "TestPositionsStay", `0xf52a15e9a9b5`), edits: []edit{
			{"node/datatype/parts/position.go", `h := uint64(14695981039346656037)`, `h := uint64(14695981039346656039)`},
		}},
	{name: "hash-frozen", rule: "Hashes", effect: "a version of a hash that somebody reads is changed in place",
		caught: scenario(parts, "TestAnyVersionMayBeChanged", `a version is not what it was|Not equal`), edits: []edit{
			{"node/datatype/parts/run.go", `r != nil && !m.frozen && m.next == nil`, `r != nil && m.next == nil`},
		}},
	{name: "hash-of-another-run", rule: "Hashes", effect: "what is above the parts is changed in place, whichever version it is of",
		caught: scenario(parts, "TestAnyVersionMayBeChanged", `a version is not what it was|Not equal`), edits: []edit{
			{"node/datatype/parts/node.go", `	if n.run != c.run {
		count, size`, `	if n.run == 0 {
		count, size`},
		}},
	{name: "hash-part-of-another-run", rule: "Hashes", effect: "a part is changed in place, whichever version it is of",
		caught: scenario(parts, "TestAnyVersionMayBeChanged", `a version is not what it was|Not equal`), edits: []edit{
			{"node/datatype/parts/node.go", `inPlace := n.run == c.run && size`, `inPlace := n.run > 0 && size`},
		}},
	{name: "hash-undone", rule: "Hashes", effect: "what is overwritten in place is not kept for the versions before",
		caught: scenario(parts, "TestAnyVersionMayBeChanged", `a version is not what it was|Not equal`), edits: []edit{
			{"node/datatype/parts/node.go", `undo{item: buffer.Clone(item)}`, `undo{item: item}`},
		}},
	{name: "hash-overwritten-of-another-run", rule: "Hashes", effect: "a value is overwritten in a part of another version",
		caught: scenario(parts, "TestAValueIsOverwrittenInItsVersionOnly", `a version is not what it was`), edits: []edit{
			{"node/datatype/parts/run.go", `if leaf.run != c.run {`, `if leaf.run == 0 {`},
		}},
	{name: "hash-overwritten-undone", rule: "Hashes", effect: "a value that is overwritten with one as long is not kept for the versions before",
		caught: scenario(parts, "TestAValueIsOverwrittenInItsVersionOnly", `a version is not what it was`), edits: []edit{
			{"node/datatype/parts/run.go", `	buffer.Copy(taken, leaf.packed[start:end])
	leaf.packed = spoilt(leaf)
`, `	leaf.packed = spoilt(leaf)
	buffer.Copy(taken, leaf.packed[start:end-len(value)])
	buffer.Copy(taken[end-start-len(value):], c.value)
`},
		}},
	{name: "hash-undo-bound", rule: "Hashes", effect: "who keeps one version of a hash keeps what undoes all later ones",
		caught: scenario(parts, "TestWhatIsKeptToUndoIsBounded", `is not less than`), edits: []edit{
			{"node/datatype/parts/run.go", ` && r.undone < max(leastRun, undoFactor*m.size)`, ``},
		}},
}
