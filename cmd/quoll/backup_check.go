package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/quolldb/quoll/internal/backup"
	"github.com/quolldb/quoll/ring"
)

// backupSummary is a backup that was made or checked, as JSON.
type backupSummary struct {
	backup.Header
	// Contents is what was counted; Header's numbers are what the node expected.
	Contents backup.Counts `json:"contents"`
	Size     int64         `json:"size"`
	SHA256   string        `json:"sha256"`
}

func summaryOf(in *backup.Reader) backupSummary {
	return backupSummary{*in.Header(), in.Counts(), in.Offset(), in.Digest().String()}
}

// checkBackup reads a backup to its end and shows what is in it.
func (a *app) checkBackup(cmd *cobra.Command, opt backupOptions) error {
	file, size, err := openBackup(opt.check)
	if err != nil {
		return err
	}
	defer file.Close()
	in, err := a.verify(cmd.Context(), file, size, opt.quiet)
	if err != nil {
		return fmt.Errorf("%s: %w", opt.check, err)
	}
	switch {
	case opt.form == asJSON:
		return printJSON(a.stdout, summaryOf(in))
	case opt.quiet:
		return nil
	}
	return printBackup(a.stdout, in)
}

func (a *app) verify(ctx context.Context, file io.Reader, size int64, quiet bool) (*backup.Reader, error) {
	in, err := backup.NewReader(bufio.NewReaderSize(interruptible{ctx, file}, 1<<20))
	if err != nil {
		return nil, err
	}
	p := startProgress(a.stderr, "Checking", quiet)
	defer p.stop()
	return in, readAll(in, func() { p.set(readState(in, size)) })
}

// readState is how far a file is read, whose size is 0 if it is not known.
func readState(in *backup.Reader, size int64) progressState {
	counts := in.Counts()
	s := progressState{records: counts.Live + counts.Tombstones, bytes: in.Offset()}
	if size > 0 {
		s.share = float64(s.bytes) / float64(size)
	}
	return s
}

// interruptible reads until ctx ends.
type interruptible struct {
	ctx context.Context
	io.Reader
}

// Read implements io.Reader.
func (r interruptible) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, errInterrupted
	}
	return r.Reader.Read(p)
}

func printBackup(w io.Writer, in *backup.Reader) error {
	h, counts := in.Header(), in.Counts()
	var names []string
	for _, m := range h.Cluster.Members {
		names = append(names, m.Name)
	}
	slots := fmt.Sprintf("%d of %d", h.Slots.Len(), ring.Slots)
	if h.Slots.Len() < ring.Slots {
		slots += "; a restore needs other nodes' backups too"
	}
	_, err := fmt.Fprintf(w, `Complete and undamaged: node %s of cluster %s, backed up %s by quoll %s.

Ring     epoch %d, %d replicas, nodes %s
Slots    %s
Records  %d, with %s of keys and values; and %d deletions
Size     %s
SHA-256  %s
`, printable(h.Node), printable(h.Cluster.Name), h.Time.Format(time.RFC3339), printable(h.Quoll),
		h.Cluster.Epoch, h.Cluster.Replicas, printable(strings.Join(names, ", ")),
		slots, counts.Live, humanBytes(counts.Bytes), counts.Tombstones, humanBytes(uint64(in.Offset())), in.Digest())
	return err
}
