package consensus

import (
	"fmt"
	"log/slog"
)

// libraryLog passes the library's log on: elections are its daily business, so all of it is for those who look for a fault. What it calls fatal ends the group.
type libraryLog struct{ log *slog.Logger }

func (l libraryLog) debug(text string) { l.log.Debug(text, "from", "raft") }

func (l libraryLog) Debug(v ...any)                   { l.debug(fmt.Sprint(v...)) }
func (l libraryLog) Debugf(format string, v ...any)   { l.debug(fmt.Sprintf(format, v...)) }
func (l libraryLog) Info(v ...any)                    { l.debug(fmt.Sprint(v...)) }
func (l libraryLog) Infof(format string, v ...any)    { l.debug(fmt.Sprintf(format, v...)) }
func (l libraryLog) Warning(v ...any)                 { l.debug(fmt.Sprint(v...)) }
func (l libraryLog) Warningf(format string, v ...any) { l.debug(fmt.Sprintf(format, v...)) }
func (l libraryLog) Error(v ...any)                   { l.log.Warn(fmt.Sprint(v...), "from", "raft") }
func (l libraryLog) Errorf(format string, v ...any) {
	l.log.Warn(fmt.Sprintf(format, v...), "from", "raft")
}
func (l libraryLog) Fatal(v ...any)                 { panic(fmt.Sprint(v...)) }
func (l libraryLog) Fatalf(format string, v ...any) { panic(fmt.Sprintf(format, v...)) }
func (l libraryLog) Panic(v ...any)                 { panic(fmt.Sprint(v...)) }
func (l libraryLog) Panicf(format string, v ...any) { panic(fmt.Sprintf(format, v...)) }
