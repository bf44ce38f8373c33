package enginetest

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
)

// freezer stops a process, waits until none of its threads runs, copies a directory, and
// lets the process go on. A write that is under way in the kernel is finished first.
const freezer = `
kill -STOP "$1" && trap 'kill -CONT "$1"' EXIT
while grep -L 'State:.*stopped' /proc/"$1"/task/*/status | grep -q .; do :; done
cp -a "$2" "$3"
`

// freezing keeps one freezer from waking the process under another.
var freezing sync.Mutex

// Freeze copies a directory as it is at one moment. What it makes is what the disk would
// show to those who come after this process was killed now: engines write to several
// files, from several goroutines and through maps, and a copy that is taken
// meanwhile would be a mixture that no crash leaves. So a shell stops the whole process
// for as long as it copies.
func Freeze(from, to string) error {
	freezing.Lock()
	defer freezing.Unlock()
	out, err := exec.Command("/bin/sh", "-c", freezer, "freezer", strconv.Itoa(os.Getpid()), from, to).CombinedOutput()
	if err != nil {
		return fmt.Errorf("enginetest: copying %s: %w: %s", from, err, out)
	}
	return nil
}
