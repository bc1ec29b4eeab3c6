package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/sigcore/sigcore/binary"
)

func TestDemo(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var out bytes.Buffer
	if err := converse(context.Background(), &out, scale{members: 5, devices: 2, preKeys: 9, messages: 3}); err != nil {
		t.Fatal(err)
	}
	if want := "copies arrived as they were sent"; !strings.Contains(out.String(), want) {
		t.Errorf("output without %q:\n%s", want, &out)
	}
}

func TestCancelledDemoFails(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := converse(ctx, new(bytes.Buffer), scale{members: 2, devices: 1, preKeys: 1, messages: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestLedgerSeesWhatIsWrong(t *testing.T) {
	to := binary.JID{User: "15550000001", Server: binary.ServerUser}
	l := newLedger(new(bytes.Buffer))
	l.expect("a", to, "text")
	if err := l.close(); err == nil {
		t.Error("a message that never arrived is not seen")
	}
	if err := l.receive("a", to, "other"); !errors.Is(err, errDiffers) {
		t.Errorf("another text: %v", err)
	}
	if err := l.receive("b", to, "text"); !errors.Is(err, errNotSent) {
		t.Errorf("another message: %v", err)
	}
	if err := l.receive("a", to, "text"); err != nil {
		t.Error(err)
	}
	if err := l.receive("a", to, "text"); !errors.Is(err, errNotSent) {
		t.Errorf("the same message again: %v", err)
	}
	if err := l.close(); err != nil {
		t.Error(err)
	}
}

func TestReport(t *testing.T) {
	var out bytes.Buffer
	report(&out)
	if !strings.HasPrefix(out.String(), "processor ") || !strings.Contains(out.String(), "curve.X25519: ") {
		t.Errorf("report:\n%s", &out)
	}
	if err := checkProcessors(&out); err != nil {
		t.Error(err)
	}
}
