package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/database"
)

// FindKey implements admin.KeyFinder: there are none.
func (m *movable) FindKey(context.Context, database.ID, uint64) (key []byte, found bool, err error) {
	return nil, false, nil
}

func TestRingKeyspace(t *testing.T) {
	m := ringOf(t, 3, 0)
	o := m.operator(t)
	require.Equal(t, "Nothing was done. It would be: the keys of database 1 are placed together.\n", o.does("ring keyspace set 1 placement=together --dry-run"))
	require.Zero(t, m.document.Placements)
	require.Equal(t, "The keys of database 1 are placed together.\n", o.does("ring keyspace set 1 placement=together"))
	require.Equal(t, database.Placements{Together: 2}, m.document.Placements)
	require.Equal(t, "ops", m.document.History[1].By)
	m.document.Placements = m.document.Placements.Close(0)
	require.Contains(t, o.does("ring keyspace"), `DATABASE  PLACEMENT  SLOT  STATE
0         spread     all   closed: its placement is being changed; repeat quoll ring keyspace set if nobody does that any more
1         together   595   open
2         spread     all   open
`)
	require.Contains(t, o.does("ring keyspace -o json"), `"slot": 595`)
	for line, problem := range map[string]string{
		"1":                     "give a DATABASE and placement=together or placement=spread",
		"16 placement=spread":   `"16" is no database`,
		"x placement=spread":    `"x" is no database`,
		"1 together":            `"together" is not known`,
		"1 placement=elsewhere": `"elsewhere" is neither together nor spread`,
	} {
		require.Contains(t, o.fails(exitUsage, "ring keyspace set "+line), problem, line)
	}
	require.Contains(t, o.fails(exitFailure, "ring keyspace set 1 placement=together"), "it is so already")
}
