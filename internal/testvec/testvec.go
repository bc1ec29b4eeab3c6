// Package testvec holds recordings of foreign implementations of the protocol,
// packed, for the tests of every other package. docs/vectors.md says what each
// file holds and how its verdicts are read. Only tests import this package: it
// embeds about a megabyte.
package testvec

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
)

//go:embed testdata
var packed embed.FS

// Hex is a byte string that JSON carries as hexadecimal text; null leaves it nil.
type Hex []byte

// UnmarshalJSON reads a string of hexadecimal digits or null.
func (h *Hex) UnmarshalJSON(data []byte) error {
	var s *string
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("testvec: hex: %w", err)
	}
	if s == nil {
		*h = nil
		return nil
	}
	b, err := hex.DecodeString(*s)
	if err != nil {
		return fmt.Errorf("testvec: hex: %w", err)
	}
	*h = b
	return nil
}

// MarshalJSON writes the hexadecimal text that UnmarshalJSON reads.
func (h Hex) MarshalJSON() ([]byte, error) { return json.Marshal(hex.EncodeToString(h)) }

// Array32 returns the 32 bytes of h and panics if it has another length.
func (h Hex) Array32() *[32]byte { return (*[32]byte)(h[:len(h):len(h)]) }

// Names lists the recordings, as Open takes them.
func Names() []string {
	dir, err := packed.ReadDir("testdata")
	if err != nil {
		panic("testvec: " + err.Error())
	}
	var names []string
	for _, e := range dir {
		if name, ok := strings.CutSuffix(e.Name(), ".json.gz"); ok {
			names = append(names, name)
		}
	}
	return names
}

// Open returns the JSON text of a recording, such as "session_basic".
func Open(name string) ([]byte, error) {
	data, err := packed.ReadFile("testdata/" + name + ".json.gz")
	if err != nil {
		return nil, fmt.Errorf("testvec: %w", err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("testvec: %s: %w", name, err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("testvec: %s: %w", name, err)
	}
	return text, nil
}

// Load decodes a recording into v, or ends the test.
func Load(tb testing.TB, name string, v any) {
	tb.Helper()
	text, err := Open(name)
	if err != nil {
		tb.Fatal(err)
	}
	if err := json.Unmarshal(text, v); err != nil {
		tb.Fatalf("testvec: %s: %v", name, err)
	}
}
