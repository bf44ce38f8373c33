// Package config says what can be set about each of quoll's commands, and reads it
// from flags, the environment and a YAML file.
//
// Each command has a struct (Node, Proxy, Dev, Client) whose Bind method declares one
// flag per field. Nothing else names the settings: the environment and the file go
// through the same flags, so the three cannot disagree. The flag --max-clients is the
// variable QUOLL_MAX_CLIENTS and the key max-clients of the file given with --config.
// A flag wins over a variable, a variable over the file, the file over the default.
//
// What CONFIG SET of a proxy has changed File writes back into the file, line by line.
//
// A name that nothing reads is an error, because a misspelt setting that is silently
// ignored is found on the worst day. Load reports all faults at once, one per line.
package config
