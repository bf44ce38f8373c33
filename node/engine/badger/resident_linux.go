package badger

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// residentFiles returns how many bytes of the process' memory are those of files, 0 if it is not known.
func residentFiles() int64 {
	statm, _ := os.ReadFile("/proc/self/statm")
	fields := strings.Fields(string(statm))
	if len(fields) < 3 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[2], 10, 53)
	return pages * int64(os.Getpagesize())
}

// mappedFiles returns the files of a directory that are mapped.
func mappedFiles(dir string) []file {
	smaps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return nil
	}
	defer smaps.Close()
	return parseMapped(smaps, dir+"/")
}

// parseMapped takes the mappings of files whose paths begin with a prefix from what is in /proc/PID/smaps: a line as
// "7f62efd0f000-7f62efd35000 rw-s 00000000 fe:00 326269   /data/000001.vlog" and some as "Rss:   4096 kB" for each.
func parseMapped(smaps io.Reader, prefix string) (files []file) {
	ours := false
	for lines := bufio.NewScanner(smaps); lines.Scan(); {
		line := lines.Bytes()
		if amount, ok := bytes.CutPrefix(line, []byte("Rss:")); ok {
			if ours {
				kb, _ := strconv.ParseInt(string(bytes.TrimSpace(bytes.TrimSuffix(amount, []byte("kB")))), 10, 43)
				files[len(files)-1].resident = kb << 10
			}
			continue
		}
		fields := strings.SplitN(string(line), " ", 6)
		start, end, ok := strings.Cut(fields[0], "-")
		if !ok || len(fields) < 6 { // of the mapping before, or without a file
			ours = ours && !ok
			continue
		}
		path := strings.TrimSpace(fields[5])
		if ours = strings.HasPrefix(path, prefix); ours {
			f := file{path: path}
			f.start, _ = strconv.ParseUint(start, 16, 64)
			f.end, _ = strconv.ParseUint(end, 16, 64)
			files = append(files, f)
		}
	}
	return files
}

// pageOut gives the memory of a mapped file back. Should Badger have unmapped the file meanwhile, and somebody have mapped something else there, that
// loses nothing either: no advice but this one is as harmless.
func (f *file) pageOut() {
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(f.start), uintptr(f.end-f.start), unix.MADV_PAGEOUT)
}
