// Package acl decides what a user may do, as the access control lists of Redis 7.0 do: https://redis.io/docs/latest/operate/oss_and_stack/management/security/acl/.
//
//	user.go      a user: whether it may log in, its passwords, its selectors
//	selector.go  what a selector permits: commands, keys and channels
//	rules.go     the words of ACL SETUSER that change users and selectors
//	describe.go  users as such words again, in the form and the order of ACL LIST
//	check.go     whether a user may execute a command
//	users.go     all users
//	file.go      the lines of an ACL file
//	log.go       what was refused, for ACL LOG
//
// Users never change: a change makes another one. So whoever has a user can go on with it, without a lock. A user that may do everything is marked, so that its commands are not looked at.
//
// Commands, subcommands and categories are those of package command. The package is pure: the time comes in as an argument.
package acl
