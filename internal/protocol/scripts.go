package protocol

import "time"

// ScriptsRequest asks a node for the scripts and functions that have been running there for a while (MethodScripts), and may end some.
type ScriptsRequest struct {
	// EndScripts and EndFunctions have those ended that run. Nothing is done then of the transaction that one is of.
	EndScripts   bool `json:"end_scripts,omitempty"`
	EndFunctions bool `json:"end_functions,omitempty"`
}

// RunningScript is a script, or a function, that has been running for a while.
type RunningScript struct {
	// Function is its name, empty of a script.
	Function string `json:"function,omitempty"`
	// Command is that of the client; what is long in it is shortened.
	Command [][]byte `json:"command"`
	// Since is for how long it has been running.
	Since time.Duration `json:"since"`
	// Ended: it was asked to end, and does very soon.
	Ended bool `json:"ended,omitempty"`
}
