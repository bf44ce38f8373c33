package mutation

// excused are the rules that are not taken away, each with the reason.
//
// Some parts of rules are not in the table either, because taking them away changes
// no answer, alone or with others:
//   - R6 and clears, the ballot of a record or of a clear refuses an older one: so does the promise that came with it, as
//     long as nothing is installed by a transfer (R18). The table has it, with a test of its own.
//   - A head that a clear left is sent as a clear, and its acknowledgements count for no purge: that
//     saves tombstones and messages.
//   - A transfer copies to joining members only (R18): what is agreed on can be copied anywhere, and is there already.
var excused = map[string]string{}
