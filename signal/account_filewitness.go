package signal

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"sync"
)

// FileWitness is a [Witness] in a file. The file belongs to one account, and to
// one process at a time. It must not be on what is backed up and put back
// together with the database.
//
// A Store is one write of 64 bytes and one fsync. The file has two such slots,
// written in turns, so that a write that is cut by a crash leaves the one
// before.
type FileWitness struct {
	mu   sync.Mutex
	path string
	last witnessSlot // zero until the file was read
	read bool
}

var _ Witness = (*FileWitness)(nil)

// NewFileWitness returns the witness in the file at path, which the first Store
// makes.
func NewFileWitness(path string) *FileWitness { return &FileWitness{path: path} }

const (
	// slotSize is the size of a slot, in bytes.
	slotSize = 64

	// slotStride keeps the slots apart: a crash can spoil all of the block that
	// was being written.
	slotStride = 4096
)

// witnessSlot is what a slot holds: a magic, a sequence number, the incarnation,
// the epoch, and a checksum over them, little endian.
type witnessSlot struct {
	sequence    uint64 // from 1
	incarnation [16]byte
	epoch       uint64
}

const witnessMagic = "sigcoreW"

func (s *witnessSlot) encode() []byte {
	b := make([]byte, 0, slotSize)
	b = append(b, witnessMagic...)
	b = binary.LittleEndian.AppendUint64(b, s.sequence)
	b = append(b, s.incarnation[:]...)
	b = binary.LittleEndian.AppendUint64(b, s.epoch)
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	return b[:slotSize]
}

func (s *witnessSlot) parse(b []byte) bool {
	const sum = 8 + 8 + 16 + 8
	if len(b) != slotSize || string(b[:8]) != witnessMagic || crc32.ChecksumIEEE(b[:sum]) != binary.LittleEndian.Uint32(b[sum:]) {
		return false
	}
	s.sequence, s.incarnation, s.epoch = binary.LittleEndian.Uint64(b[8:]), [16]byte(b[16:]), binary.LittleEndian.Uint64(b[32:])
	return s.sequence > 0
}

// Load implements Witness. A file that is not one of a witness is an error.
func (w *FileWitness) Load(ctx context.Context) (incarnation [16]byte, epoch uint64, err error) {
	if err := ctx.Err(); err != nil {
		return incarnation, 0, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.load(); err != nil {
		return incarnation, 0, err
	}
	return w.last.incarnation, w.last.epoch, nil
}

func (w *FileWitness) load() error {
	if w.read {
		return nil
	}
	f, err := os.Open(w.path)
	if errors.Is(err, os.ErrNotExist) {
		w.read = true
		return nil
	}
	if err != nil {
		return fmt.Errorf("signal: open witness: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("signal: read witness: %w", err)
	}
	found := info.Size() == 0 // made, and not written before a crash
	for i := range int64(2) {
		var b [slotSize]byte
		n, err := f.ReadAt(b[:], i*slotStride)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("signal: read witness: %w", err)
		}
		var s witnessSlot
		if !s.parse(b[:n]) {
			continue
		}
		if found = true; s.sequence > w.last.sequence {
			w.last = s
		}
	}
	if !found {
		return fmt.Errorf("signal: witness file of %d bytes is none: %w", info.Size(), ErrCorruptRecord)
	}
	w.read = true
	return nil
}

// Store implements Witness.
func (w *FileWitness) Store(ctx context.Context, incarnation [16]byte, epoch uint64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.load(); err != nil {
		return err
	}
	if w.last.incarnation == incarnation && w.last.epoch >= epoch && w.last.sequence > 0 {
		return nil
	}
	next := witnessSlot{w.last.sequence + 1, incarnation, epoch}
	if err := w.write(&next); err != nil {
		// What the file holds is not known: the next call finds out.
		w.read, w.last = false, witnessSlot{}
		return fmt.Errorf("signal: write witness: %w", err)
	}
	w.last = next
	return nil
}

func (w *FileWitness) write(s *witnessSlot) error {
	_, err := os.Stat(w.path)
	fresh := errors.Is(err, os.ErrNotExist)
	f, err := os.OpenFile(w.path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(s.encode(), int64(s.sequence%2)*slotStride)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil || !fresh {
		return err
	}
	return syncDir(w.path)
}
