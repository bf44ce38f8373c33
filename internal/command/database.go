package command

import "github.com/quolldb/quoll/internal/resp"

// ErrDatabase is the error for a database that there is not, as a reply.
const ErrDatabase = "ERR DB index is out of range"

// DatabaseProblem returns why an argument is not the number of a database, as Redis words it, nothing if it is. There is one, 0.
func DatabaseProblem(number []byte) string {
	n, ok := resp.ParseInt(number)
	switch {
	case !ok:
		return errNotInteger
	case int64(int32(n)) != n:
		return "ERR value is out of range, value must between -2147483648 and 2147483647"
	case n != 0:
		return ErrDatabase
	}
	return ""
}
