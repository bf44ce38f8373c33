package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/quolldb/quoll/internal/acl"
	"github.com/quolldb/quoll/internal/durable"
	"github.com/quolldb/quoll/proxy/session"
)

// openUserFile returns the ACL file of a proxy, nil if it has none. An error says which lines are wrong.
func openUserFile(path, password string) (*session.UserFile, error) {
	if path == "" {
		return nil, nil
	}
	f := userFile(path)
	text, err := f.read()
	if err != nil {
		return nil, fmt.Errorf("%w: write it, if only with the line %q", err, "user default on >PASSWORD ~* &* +@all")
	}
	users, err := acl.ParseFile(path, text, acl.NewDefault(password))
	if err != nil {
		return nil, fmt.Errorf("the users of --acl-file cannot be used: %w", err)
	}
	return &session.UserFile{Path: path, Users: users, Read: f.read, Write: f.write}, nil
}

// userFile is the path of an ACL file.
type userFile string

// read returns the text of the file. Its error is worded as by ACL LOAD of Redis.
func (f userFile) read() (string, error) {
	text, err := os.ReadFile(string(f))
	if err != nil {
		why := err
		if number := syscall.Errno(0); errors.As(err, &number) {
			why = number
		}
		said := why.Error()
		return "", fmt.Errorf("Error loading ACLs, opening file '%s': %s", string(f), strings.ToUpper(said[:1])+said[1:])
	}
	return string(text), nil
}

// write replaces the file by one with that text, of which a power cut leaves the old one or the new one. Only its owner may read it, unless others may already: it has hashes of passwords.
func (f userFile) write(text string) error {
	path := string(f)
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	temp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".tmp-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // it is not there any more if all went well
	_, err = temp.WriteString(text)
	err = errors.Join(err, temp.Chmod(mode), temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err == nil {
		err = durable.Sync(filepath.Dir(path))
	}
	return err
}
