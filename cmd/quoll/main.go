// Command quoll runs and inspects a Quoll cluster. Each subcommand has a file of its
// own; what they share is in app.go (running), exit.go (how they end), settings.go
// (configuration and log) and table.go (output).
package main

import "os"

func main() { os.Exit(newApp().run(os.Args[1:])) }
