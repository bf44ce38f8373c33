package command

import "github.com/quolldb/quoll/internal/resp"

// ErrNoScript is the error of EVALSHA for a script that is not there, as a reply.
const ErrNoScript = "NOSCRIPT No matching script. Please use EVAL."

// ScriptKeys returns how many keys an EVAL or EVALSHA (which ArityOK accepted) names, or the error that Redis finds before it looks at the script.
func ScriptKeys(req *Request) (n int64, problem string) {
	if byName := req.Op == OpEvalSHA || req.Op == OpEvalSHARO; byName && len(req.Args[1]) != 40 {
		return 0, ErrNoScript
	}
	n, ok := resp.ParseInt(req.Args[2])
	switch {
	case !ok:
		return 0, errNotInteger
	case n > int64(len(req.Args)-3):
		return 0, "ERR Number of keys can't be greater than number of args"
	case n < 0:
		return 0, "ERR Number of keys can't be negative"
	}
	return n, ""
}
