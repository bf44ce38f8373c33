// Package script runs Redis' Lua scripts: what EVAL and FCALL do between their arguments and their reply. It knows nothing of nodes: commands of redis.call go to a
// function that the caller gives.
//
// It is pure: time, randomness and whether to go on come in as arguments. A run is bounded in memory, in the depth of its calls, and, by Interrupted, in its length. No
// panic leaves it, and nothing of a run is there in the next one.
//
// Scripts are run by gopher-lua (https://github.com/yuin/gopher-lua), an interpreter of Lua 5.1 in Go; bindings of Lua in C bring cgo, with memory and crashes that
// are not Go's, and the other interpreters in Go are of later versions of Lua. Version 1.1.2 swaps a, b = b, a wrong, gives closures copies of the variables of
// running functions at each error, takes '010' for eight, fills the room before t[60000000] and has no read-only tables and no bound for memory. So scripts are
// rewritten before it compiles them (rewrite.go), and all libraries are this package's own.
//
// What is not as in Redis 7.0.15: errors of the interpreter do not name the variable ("attempt to index a nil value", without "local 'x'"), nor syntax errors what was
// expected; goto is a word of the language; # asks __len of tables; -0 is 0; calls are 4000 deep at most, and no pcall catches that; string.dump is refused; the options
// of cjson hold for one run; a list has 1048575 elements at most,
// a constructor 40000, a script 20000 different constants.
//
// The code of a library is run before each call of one of its functions, which then find what it has left in its local variables, and nothing of an earlier call.
package script
