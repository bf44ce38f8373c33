package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWhatIsLinkedMayBePassedOn is the check of the licences of all that the binary consists of.
func TestWhatIsLinkedMayBePassedOn(t *testing.T) {
	t.Chdir("../..")
	var out bytes.Buffer
	require.NoError(t, run(&out, []string{"./cmd/quoll"}))
	for _, want := range []string{"github.com/hashicorp/memberlist v", ": MPL-2.0\n", "github.com/dgraph-io/badger/v4 v", ": Apache-2.0\n", "github.com/tidwall/redcon v", ": MIT\n"} {
		require.Contains(t, out.String(), want)
	}
	require.NotContains(t, out.String(), "stretchr/testify", "tests are not passed on")
}

func TestLicencesAreKnownByTheirTexts(t *testing.T) {
	mit := "Permission is hereby granted, free of charge,\n to any person obtaining a copy"
	for text, want := range map[string]string{
		mit: "MIT", "all rights reserved": "",
		"Apache License\n   Version 2.0, January 2004":                       "Apache-2.0",
		"Mozilla Public License, version 2.0 ... GNU General Public License": "MPL-2.0",
		"                    GNU GENERAL PUBLIC LICENSE\n   Version 3":       "",
		mit + "\nor GNU AFFERO GENERAL PUBLIC LICENSE\nVersion 3":            "",
	} {
		require.Equal(t, want, identify(text), text)
	}
}

func TestAModuleWithoutALicenceIsNamed(t *testing.T) {
	dir := t.TempDir()
	_, err := texts(dir)
	require.ErrorContains(t, err, "has no licence")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "LICENSE.md"), []byte("You may look at it."), 0o600))
	_, err = texts(dir)
	require.ErrorContains(t, err, "has no licence")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "COPYING"), []byte("Permission is hereby granted, free of charge, to any person obtaining a copy"), 0o600))
	text, err := texts(dir)
	require.NoError(t, err)
	require.Contains(t, text, "copy\nYou may look at it.")
}
