package random

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("no entropy") }

func TestInstall(t *testing.T) {
	restore := Install(bytes.NewReader([]byte{1, 2, 3, 4, 5}))
	b := make([]byte, 4)
	if err := Read(b); err != nil || !bytes.Equal(b, []byte{1, 2, 3, 4}) {
		t.Fatalf("Read = %v, %v", b, err)
	}
	if err := Read(b); !errors.Is(err, io.ErrUnexpectedEOF) || !bytes.Equal(b, make([]byte, 4)) {
		t.Fatalf("short source: %v, %v; want zeros and ErrUnexpectedEOF", b, err)
	}
	restore()
	if err := Read(b); err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(b, make([]byte, 4)) {
		if err := Read(b); err != nil || bytes.Equal(b, make([]byte, 4)) {
			t.Fatal("crypto/rand returned zeros twice")
		}
	}
}

func TestReadError(t *testing.T) {
	defer Install(failing{})()
	b := []byte{1, 2, 3}
	if err := Read(b); err == nil || !bytes.Equal(b, make([]byte, 3)) {
		t.Fatalf("Read = %v, %v; want an error and a cleared buffer", b, err)
	}
}
