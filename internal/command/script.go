package command

import "github.com/quolldb/quoll/internal/resp"

// ErrNoScript is the error of EVALSHA for a script that is not there, as a reply.
const ErrNoScript = "NOSCRIPT No matching script. Please use EVAL."

// ErrNoFunction is the error of FCALL for a function that is not there, as a reply.
const ErrNoFunction = "ERR Function not found"

// CallKeys returns how many keys an FCALL names, with so many arguments behind that number, or the error that Redis finds before it calls the function.
func CallKeys(number []byte, behind int) (n int64, problem string) {
	n, ok := resp.ParseInt(number)
	if !ok {
		return 0, "ERR Bad number of keys provided"
	}
	return n, tooManyKeys(n, behind)
}

// tooManyKeys says what is wrong with a number of keys, "" if nothing is.
func tooManyKeys(n int64, behind int) (problem string) {
	switch {
	case n > int64(behind):
		return "ERR Number of keys can't be greater than number of args"
	case n < 0:
		return "ERR Number of keys can't be negative"
	}
	return ""
}

// ScriptKeys returns how many keys an EVAL or EVALSHA (which ArityOK accepted) names, or the error that Redis finds before it looks at the script.
func ScriptKeys(req *Request) (n int64, problem string) {
	if byName := req.Op == OpEvalSHA || req.Op == OpEvalSHARO; byName && len(req.Args[1]) != 40 {
		return 0, ErrNoScript
	}
	n, ok := resp.ParseInt(req.Args[2])
	if !ok {
		return 0, errNotInteger
	}
	return n, tooManyKeys(n, len(req.Args)-3)
}
