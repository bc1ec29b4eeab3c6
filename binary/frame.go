package binary

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"slices"
	"sync"
)

// MaxInflated is the largest size in bytes that a compressed frame may have
// once inflated.
const MaxInflated = 16 << 20

// flagCompressed in the flag byte says that a zlib stream follows. The other
// bits mean nothing.
const flagCompressed = 2

// Unpack returns the bytes of the node in a frame: the flag byte removed, and
// inflated if it says so, in which case the result is not part of frame. It
// ignores bytes after the zlib stream. It returns [ErrEmptyFrame],
// [ErrInflate] or [ErrFrameTooLarge].
func Unpack(frame []byte) ([]byte, error) { return unpack(nil, frame, false) }

// UnpackStrict is [Unpack] but also refuses, with [ErrStrict], flag bits
// without meaning and bytes after the zlib stream.
func UnpackStrict(frame []byte) ([]byte, error) { return unpack(nil, frame, true) }

// Pack returns the uncompressed frame of the bytes of a node: the flag byte 00
// in front of them.
func Pack(node []byte) []byte { return append([]byte{0}, node...) }

// PlainNode returns the bytes of the node in a frame that must not be
// compressed, with which a caller passes frames on as they are. It returns
// [ErrEmptyFrame], also if nothing follows the flag byte, or [ErrFlagByte].
func PlainNode(frame []byte) ([]byte, error) {
	switch {
	case len(frame) == 0:
		return nil, ErrEmptyFrame
	case frame[0] != 0:
		return nil, fmt.Errorf("%w %d", ErrFlagByte, frame[0])
	case len(frame) == 1:
		return nil, ErrEmptyFrame
	}
	return frame[1:], nil
}

// UnmarshalFrame reads the node in a frame. It does not refer to frame.
func UnmarshalFrame(frame []byte) (*Node, error) { return Decoder{}.UnmarshalFrame(frame) }

// UnmarshalFrame reads the node in a frame, strictly if the decoder is.
func (o Decoder) UnmarshalFrame(frame []byte) (*Node, error) {
	data, err := unpack(nil, frame, o.Strict)
	if err != nil {
		return nil, err
	}
	if frame[0]&flagCompressed != 0 {
		o.InPlace = true // what was inflated belongs to nobody else
	}
	return o.Unmarshal(data)
}

// unpack inflates into dst, which is empty, if that has the capacity.
func unpack(dst, frame []byte, strict bool) ([]byte, error) {
	if len(frame) == 0 {
		return nil, ErrEmptyFrame
	}
	if strict && frame[0]&^flagCompressed != 0 {
		return nil, fmt.Errorf("binary: flag byte %d: %w", frame[0], ErrStrict)
	}
	if frame[0]&flagCompressed == 0 {
		return frame[1:], nil
	}
	f := inflaters.Get().(*inflater)
	defer inflaters.Put(f)
	return f.inflate(dst, frame[1:], strict)
}

const (
	scratchLen = 16 << 10
	// chunkLen bounds what is allocated beyond the data while inflating.
	chunkLen = 1 << 20
)

// inflater is reused through a pool. Its reader is reset before each use, also
// after one that failed.
type inflater struct {
	in      bytes.Reader
	z       io.ReadCloser // nil until a first stream had a valid header
	scratch [scratchLen]byte
}

var inflaters = sync.Pool{New: func() any { return new(inflater) }}

// inflate appends what stream holds to dst, which is empty.
func (f *inflater) inflate(dst, stream []byte, strict bool) ([]byte, error) {
	f.in.Reset(stream)
	defer f.in.Reset(nil)
	if err := f.reset(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInflate, err)
	}
	n, err := readFull(f.z, f.scratch[:])
	chunks, total := [][]byte(nil), n
	// Frames beyond the scratch space are read in pieces that double, and
	// joined once their size is known, so that no more than the limit is ever
	// allocated for a frame that will be refused.
	for err == nil && total <= MaxInflated {
		chunk := make([]byte, min(total, chunkLen, MaxInflated+1-total))
		var m int
		m, err = readFull(f.z, chunk)
		chunks, total = append(chunks, chunk[:m]), total+m
	}
	switch {
	case total > MaxInflated:
		return nil, fmt.Errorf("%w of %d bytes", ErrFrameTooLarge, MaxInflated)
	case err != io.EOF:
		return nil, fmt.Errorf("%w: %w", ErrInflate, err)
	case strict && f.in.Len() > 0:
		return nil, fmt.Errorf("binary: %d bytes after the compressed ones: %w", f.in.Len(), ErrStrict)
	}
	out := append(slices.Grow(dst, total), f.scratch[:n]...)
	for _, c := range chunks {
		out = append(out, c...)
	}
	return out, nil
}

// reset makes z read from in.
func (f *inflater) reset() (err error) {
	if f.z != nil {
		return f.z.(zlib.Resetter).Reset(&f.in, nil)
	}
	z, err := zlib.NewReader(&f.in)
	if err == nil {
		f.z = z
	}
	return err
}

// readFull fills b. Unlike io.ReadFull it tells the end of the stream, io.EOF,
// from a stream that was cut off, whatever was read before.
func readFull(r io.Reader, b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		var m int
		m, err = r.Read(b[n:])
		n += m
	}
	return n, err
}
