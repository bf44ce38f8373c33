package mutation

// textRules: what a long string is, whose versions have two forms.
var textRules = []mutation{
	{name: "text-form", rule: "Long strings", effect: "a delta is only for a replica that has the string in parts, as the home has",
		caught: scenario(datatype, "TestAReplicaHasTheBytesOfTheHome", `delta does not fit`), edits: []edit{
			{"node/datatype/text_splice.go", `if uint64(old.size()) != oldLen {`,
				`if uint64(old.size()) != oldLen || st.Object == nil && oldLen > longText {`},
		}},
	{name: "text-length", rule: "Long strings", effect: "a delta is applied to a string of any length",
		caught: scenario(datatype, "TestADeltaIsForOneLength", `does not fit the state" in chain but got nil`), edits: []edit{
			{"node/datatype/text_splice.go", `if uint64(old.size()) != oldLen {`, `if false {`},
		}},
	{name: "text-in-place", rule: "Long strings", effect: "a part is changed in place, which former versions have, too",
		caught: scenario(parts, "TestARopeNeverChanges", `a former rope`), edits: []edit{
			{"node/datatype/parts/rope.go", `	bytes := make([]byte, size)
	if s != nil {
		copy(bytes, s.bytes)
	}
`, `	bytes := make([]byte, size)
	if s != nil {
		copy(bytes, s.bytes)
		if len(s.bytes) == size {
			bytes = s.bytes
		}
	}
`},
		}},
	{name: "text-growth", rule: "Long strings", effect: "a BITFIELD that fails makes a string longer only if that is bytes",
		caught: scenario(datatype, "TestAReplicaHasTheBytesOfTheHome", `OVERFLOW FAIL`), edits: []edit{
			{"node/datatype/text.go", `	if d.rope != nil && d.rope.Size() < d.least {
		d.write(d.least, nil)
	}
`, ""},
		}},
}
