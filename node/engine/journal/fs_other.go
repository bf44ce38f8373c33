//go:build !linux

package journal

// Size implements File.
func (f diskFile) Size() (int64, bool, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, false, err
	}
	return info.Size(), true, nil
}

// Allocate implements File.
func (f diskFile) Allocate(size int64) error { return writeZeros(f, size) }

// Uncache implements File.
func (f diskFile) Uncache() {}

// Datasync implements File.
func (f diskFile) Datasync() error { return f.Sync() }
