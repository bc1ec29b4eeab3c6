package signal

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// syncDir makes the name of a new file durable, where the system has that.
func syncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
