package binary

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestTokenDigest(t *testing.T) {
	h := sha256.New()
	for _, s := range singleTokens[:tagDictionary0] {
		h.Write([]byte(s + "\n"))
	}
	for _, d := range doubleTokens {
		for _, s := range d {
			h.Write([]byte(s + "\n"))
		}
	}
	// protocol document, dictionary version 3
	const want = "dce2ff462a48a33e39a47064ff98bd98c2786230dc1959c00631bfdbb6ded6af"
	if got := hex.EncodeToString(h.Sum(nil)); got != want {
		t.Errorf("digest of the dictionary %s, want %s", got, want)
	}
}

func TestLookupToken(t *testing.T) {
	check := func(s string, want uint16) {
		t.Helper()
		if got := lookupToken(s); got != want {
			t.Errorf("lookupToken(%q) = %#x, want %#x", s, got, want)
		}
	}
	longest := 0
	for i, s := range singleTokens[:tagDictionary0] {
		check(s, uint16(i))
		check(s+"\x00", 0)
		longest = max(longest, len(s))
	}
	for k, d := range doubleTokens {
		for i, s := range d {
			check(s, uint16(k+1)<<8|uint16(i))
			longest = max(longest, len(s))
		}
	}
	if longest != maxTokenLen {
		t.Errorf("longest token has %d bytes, want %d", longest, maxTokenLen)
	}
	for _, s := range []string{"", "m", "messagf", "nessage", "addressing_mode", "\x00", "\x00\x00\x00"} {
		check(s, 0)
	}
}

// TestTokenTableIsFresh regenerates the table and compares.
func TestTokenTableIsFresh(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	out := filepath.Join(t.TempDir(), "table.go")
	if text, err := exec.Command("go", "run", "./internal/gen", "tokens.txt", out).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("tokens_table.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("tokens_table.go is not what go generate writes")
	}
}
