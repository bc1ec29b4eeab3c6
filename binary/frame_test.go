package binary

import (
	"bytes"
	"compress/zlib"
	"errors"
	"math/rand/v2"
	"testing"
)

func compress(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	b.WriteByte(flagCompressed)
	z, err := zlib.NewWriterLevel(&b, zlib.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// compressZeros is compress for that many zeros.
func compressZeros(t testing.TB, n int) []byte {
	t.Helper()
	b := bytes.NewBuffer([]byte{flagCompressed})
	z, err := zlib.NewWriterLevel(b, zlib.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	zeros := make([]byte, 1<<20)
	for ; n > 0; n -= len(zeros) {
		if _, err := z.Write(zeros[:min(n, len(zeros))]); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestInflateLimit: the limit itself passes, one byte more is refused without
// having allocated more than the limit.
func TestInflateLimit(t *testing.T) {
	if _, err := Unpack(compress(t, []byte("warm the pool"))); err != nil {
		t.Fatal(err)
	}
	bombSize := 1000 << 20
	if testing.Short() {
		bombSize = 20 << 20
	}
	for _, c := range []struct {
		name  string
		frame []byte
		size  int // -1: refused
	}{
		{"limit - 1", compressZeros(t, MaxInflated-1), MaxInflated - 1},
		{"limit", compressZeros(t, MaxInflated), MaxInflated},
		{"limit + 1", compressZeros(t, MaxInflated+1), -1},
		{"far above", compressZeros(t, bombSize), -1},
	} {
		var data []byte
		var err error
		used := allocated(func() { data, err = Unpack(c.frame) })
		switch {
		case c.size >= 0 && (err != nil || len(data) != c.size):
			t.Errorf("%s: %d bytes, %v", c.name, len(data), err)
		case c.size < 0 && !errors.Is(err, ErrFrameTooLarge):
			t.Errorf("%s: %d bytes, %v; want ErrFrameTooLarge", c.name, len(data), err)
		case c.size < 0 && used > MaxInflated+64<<10:
			t.Errorf("%s: %d bytes allocated, %d above the limit", c.name, used, used-MaxInflated)
		}
	}
}

func TestFrameErrors(t *testing.T) {
	node := unhex("f8021307")
	good := compress(t, node)
	badSum := bytes.Clone(good)
	badSum[len(badSum)-1] ^= 1
	for name, c := range map[string]struct {
		frame        []byte
		want, strict error
	}{
		"empty":             {nil, ErrEmptyFrame, ErrEmptyFrame},
		"plain":             {append([]byte{0}, node...), nil, nil},
		"compressed":        {good, nil, nil},
		"flag 3":            {append([]byte{3}, good[1:]...), nil, ErrStrict},
		"flag 4":            {append([]byte{4}, node...), nil, ErrStrict},
		"trailing bytes":    {append(bytes.Clone(good), 1, 2, 3), nil, ErrStrict},
		"bad checksum":      {badSum, ErrInflate, ErrInflate},
		"no stream":         {[]byte{2}, ErrInflate, ErrInflate},
		"not zlib":          {append([]byte{2}, node...), ErrInflate, ErrInflate},
		"preset dictionary": {unhex("0278bb00000001"), ErrInflate, ErrInflate},
	} {
		// Twice: an error must not stay in the pool.
		for range 2 {
			data, err := Unpack(c.frame)
			if !errors.Is(err, c.want) || c.want == nil && !bytes.Equal(data, node) {
				t.Errorf("%s: %x, %v; want %v", name, data, err, c.want)
			}
			if _, err := UnpackStrict(c.frame); !errors.Is(err, c.strict) {
				t.Errorf("%s: strict: %v, want %v", name, err, c.strict)
			}
			if n, err := UnmarshalFrame(good); err != nil || n.Tag != "message" {
				t.Fatalf("after %s: %v, %v", name, n, err)
			}
		}
	}
	for n := 2; n < len(good); n++ {
		if data, err := Unpack(good[:n]); !errors.Is(err, ErrInflate) {
			t.Errorf("first %d bytes: %x, %v", n, data, err)
		}
	}
}

// TestInflateSizes: frames around the sizes at which buffers change.
func TestInflateSizes(t *testing.T) {
	r := rand.NewChaCha8([32]byte{1})
	for _, n := range []int{0, 1, scratchLen - 1, scratchLen, scratchLen + 1, 2 * scratchLen, 2*scratchLen + 1, 3 << 20} {
		data := make([]byte, n)
		if _, err := r.Read(data); err != nil {
			t.Fatal(err)
		}
		frame := compress(t, data)
		got, err := Unpack(frame)
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes: %d bytes back, %v", n, len(got), err)
		}
		if _, err := Unpack(frame[:len(frame)-1]); !errors.Is(err, ErrInflate) {
			t.Errorf("%d bytes cut off: %v", n, err)
		}
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add([]byte{})
	f.Add(unhex("02789cfbc124cc0e0004170115"))
	f.Add(unhex("00f8021307"))
	f.Fuzz(func(t *testing.T, frame []byte) {
		data, err := Unpack(frame)
		strict, strictErr := UnpackStrict(frame)
		if err != nil && strictErr == nil || strictErr == nil && !bytes.Equal(data, strict) {
			t.Fatalf("%v, strict %v", err, strictErr)
		}
		if len(data) > MaxInflated {
			t.Fatalf("%d bytes", len(data))
		}
	})
}
