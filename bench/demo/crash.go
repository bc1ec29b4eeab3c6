package main

import (
	"context"
	"errors"
	"io"
	"os"
	"sync/atomic"

	"github.com/sigcore/sigcore/signal/store"
)

var errCrash = errors.New("the process crashed before the write")

// disk is the backend of the demo. It counts writes, and fails them once
// crashed: what was not written by then never will be.
type disk struct {
	store.Backend
	writes  atomic.Int64
	crashed atomic.Bool
}

func (d *disk) Apply(ctx context.Context, id store.AccountID, b *store.Batch) (uint64, error) {
	if d.crashed.Load() {
		return 0, errCrash
	}
	d.writes.Add(1)
	return d.Backend.Apply(ctx, id, b)
}

func (d *disk) CreateAccount(ctx context.Context, name string, row []byte) (store.AccountID, error) {
	d.writes.Add(1)
	return d.Backend.CreateAccount(ctx, name, row)
}

// copyDatabase copies a database as a crash leaves it: the file and its
// write-ahead log, whatever is in either, while the old process has them open.
func copyDatabase(from, to string) error {
	for _, suffix := range []string{"", "-wal"} {
		if err := copyFile(from+suffix, to+suffix); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		return errors.Join(err, out.Close())
	}
	return out.Close()
}
