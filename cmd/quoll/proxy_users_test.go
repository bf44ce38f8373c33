package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUserFile(t *testing.T) {
	none, err := openUserFile("", "pw")
	require.NoError(t, err)
	require.Nil(t, none)

	path := filepath.Join(t.TempDir(), "users.acl")
	_, err = openUserFile(path, "")
	require.ErrorContains(t, err, "Error loading ACLs, opening file '"+path+"': No such file or directory: write it")

	require.NoError(t, os.WriteFile(path, []byte("user alice on >pw ~* +@all\nuser bob +nonsense\n"), 0o640))
	_, err = openUserFile(path, "")
	require.ErrorContains(t, err, path+":2: Error in applying operation '+nonsense': Unknown command or category name in ACL")

	require.NoError(t, os.WriteFile(path, []byte("user alice on >pw ~* +@all\n"), 0o640))
	file, err := openUserFile(path, "secret")
	require.NoError(t, err)
	require.Len(t, file.Users.List(), 2)
	require.True(t, file.Users.Default().Accepts([]byte("secret")))

	require.NoError(t, file.Write("user default on nopass ~* &* +@all\n"))
	text, err := file.Read()
	require.NoError(t, err)
	require.Equal(t, "user default on nopass ~* &* +@all\n", text)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode().Perm(), "it is as open as it was")
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 1, "nothing else is left")
}
