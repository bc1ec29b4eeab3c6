package send

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/sigcore/sigcore/internal/random"
	"github.com/sigcore/sigcore/internal/testvec"
)

// queue installs draws that must be taken exactly: their lengths, their order,
// and all of them.
func queue(t *testing.T, chunks ...[]byte) {
	t.Helper()
	q := &draws{t: t, chunks: chunks}
	restore := random.Install(q)
	t.Cleanup(func() {
		restore()
		if len(q.chunks) > 0 {
			t.Errorf("%d draws were not taken", len(q.chunks))
		}
	})
}

type draws struct {
	t      *testing.T
	chunks [][]byte
}

func (d *draws) Read(b []byte) (int, error) {
	if len(d.chunks) == 0 || len(d.chunks[0]) != len(b) {
		d.t.Errorf("draw of %d bytes is not the next one", len(b))
		return 0, errors.New("unexpected draw")
	}
	n := copy(b, d.chunks[0])
	d.chunks = d.chunks[1:]
	return n, nil
}

func TestAppendPadding(t *testing.T) {
	for r := range 256 {
		restore := random.Install(bytes.NewReader([]byte{byte(r)}))
		got, err := AppendPadding([]byte("abc"))
		restore()
		n := r%16 + 1
		if err != nil || string(got) != "abc"+strings.Repeat(string(rune(n)), n) {
			t.Fatalf("draw %d: %x, %v", r, got, err)
		}
		if back, err := Unpad(got, 2); err != nil || string(back) != "abc" {
			t.Fatalf("draw %d: unpadded to %x, %v", r, back, err)
		}
	}
	defer random.Install(bytes.NewReader(nil))()
	if _, err := AppendPadding(nil); err == nil {
		t.Error("no error although nothing could be drawn")
	}
}

func TestRecordedPadding(t *testing.T) {
	var file struct {
		Padded []struct{ Plaintext, Padded testvec.Hex }
		Edge   []struct {
			Case     string
			Padded   testvec.Hex
			Verdicts map[string]string
		} `json:"unpad_edge"`
	}
	testvec.Load(t, "padding", &file)
	if len(file.Padded) == 0 || len(file.Edge) == 0 {
		t.Fatal("no vectors")
	}
	for _, v := range file.Padded {
		if got, err := Unpad(v.Padded, 2); err != nil || !bytes.Equal(got, v.Plaintext) {
			t.Errorf("Unpad(%x) = %x, %v; want %x", []byte(v.Padded), got, err, []byte(v.Plaintext))
		}
		if got, err := Unpad(v.Padded, 3); err != nil || !bytes.Equal(got, v.Padded) {
			t.Errorf("version 3: Unpad(%x) = %x, %v", []byte(v.Padded), got, err)
		}
	}
	for _, v := range file.Edge {
		got, err := Unpad(v.Padded, 2)
		// The peers take a last byte of 0 for no padding; and where they differ
		// otherwise, one of them does not look at the padding.
		refused := v.Verdicts["go"] != v.Verdicts["bai7"] || strings.HasPrefix(v.Verdicts["go"], "error") ||
			v.Padded[len(v.Padded)-1] == 0
		if refused {
			if !errors.Is(err, ErrPadding) {
				t.Errorf("%s: %x, %v; want ErrPadding", v.Case, got, err)
			}
			continue
		}
		if err != nil || hex.EncodeToString(got) != v.Verdicts["go"] {
			t.Errorf("%s: %x, %v; want %s", v.Case, got, err, v.Verdicts["go"])
		}
	}
}

func FuzzUnpad(f *testing.F) {
	f.Add([]byte("abc\x03\x03\x03"), 2)
	f.Add([]byte{}, 2)
	f.Add([]byte{0xff}, 3)
	f.Fuzz(func(t *testing.T, b []byte, version int) {
		got, err := Unpad(b, version)
		if err != nil {
			return
		}
		if !bytes.HasPrefix(b, got) || version != 3 && len(got) == len(b) {
			t.Fatalf("Unpad(%x) = %x", b, got)
		}
	})
}
