package dropin_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/sigcore/sigcore/bench/dropin"
)

type bundle struct {
	RegistrationID, PreKeyID, SignedPreKeyID  uint32
	Identity, PreKey, SignedPreKey, Signature []byte
}

type request struct {
	Op, DB, Name, Group string
	Kind                uint32
	Body                []byte
	Bundle              *bundle
}

type answer struct {
	Kind   uint32
	Body   []byte
	Bundle *bundle
	Error  string
}

// A device is a process over a database.
type device struct {
	t    *testing.T
	name string
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
}

func start(t *testing.T, program, db, name string) *device {
	t.Helper()
	d := &device{t: t, name: name, cmd: exec.Command(program)}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	d.cmd.ExtraFiles = []*os.File{w} // the incumbent logs to the standard output
	if d.in, err = d.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close() // the process has its own
	d.out = bufio.NewReader(r)
	d.ask(request{Op: "open", DB: db, Name: name})
	return d
}

func (d *device) stop() {
	_ = d.in.Close() // which ends it
	if err := d.cmd.Wait(); err != nil {
		d.t.Error(err)
	}
}

func (d *device) ask(r request) answer {
	d.t.Helper()
	line, err := json.Marshal(r)
	if err != nil {
		d.t.Fatal(err)
	}
	if _, err := d.in.Write(append(line, '\n')); err != nil {
		d.t.Fatal(err)
	}
	reply, err := d.out.ReadBytes('\n')
	if err != nil {
		d.t.Fatal(err)
	}
	var a answer
	if err := json.Unmarshal(reply, &a); err != nil {
		d.t.Fatal(err)
	}
	if a.Error != "" {
		d.t.Fatalf("%s of %s: %s", r.Op, d.name, a.Error)
	}
	return a
}

const groupID = "15550000001-1500000000@g.us"

// talk sends messages both ways, some late, and to a group.
func talk(a, b *device, round string) {
	a.t.Helper()
	for i := range 3 {
		for _, p := range [][2]*device{{a, b}, {b, a}} {
			from, to := p[0], p[1]
			var messages []answer
			var texts [][]byte
			for j := range 3 {
				text := fmt.Appendf(nil, "%s %d %d from %s", round, i, j, from.name)
				texts = append(texts, text)
				messages = append(messages, from.ask(request{Op: "encrypt", Name: to.name, Body: text}))
			}
			for _, j := range []int{1, 2, 0} {
				got := to.ask(request{Op: "decrypt", Name: from.name, Kind: messages[j].Kind, Body: messages[j].Body})
				if !bytes.Equal(got.Body, texts[j]) {
					a.t.Fatalf("%q, not %q", got.Body, texts[j])
				}
			}
			d := from.ask(request{Op: "create", Group: groupID})
			to.ask(request{Op: "take", Group: groupID, Name: from.name, Body: d.Body})
			text := fmt.Appendf(nil, "%s %d to the group", round, i)
			m := from.ask(request{Op: "gencrypt", Group: groupID, Body: text})
			got := to.ask(request{Op: "gdecrypt", Group: groupID, Name: from.name, Body: m.Body})
			if !bytes.Equal(got.Body, text) {
				a.t.Fatalf("%q, not %q", got.Body, text)
			}
		}
	}
}

// TestExchange has whatsmeow's store over the drop-in talk to whatsmeow's store
// over the incumbent, then has each database opened by the other one, and back.
func TestExchange(t *testing.T) {
	for _, version := range []string{"v0.2.1", "v0.2.2"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			m, drop, err := dropin.Exchange(filepath.Join(dir, "drop"), true, version)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := m.Go("vet", dropin.Whatsmeow+"/..."); err != nil {
				t.Error(err)
			}
			_, mau, err := dropin.Exchange(filepath.Join(dir, "mau"), false, version)
			if err != nil {
				t.Fatal(err)
			}
			dbs := []string{filepath.Join(dir, "a.db"), filepath.Join(dir, "b.db")}
			programs := []string{drop, mau}
			for round := range 4 {
				a := start(t, programs[round%2], dbs[0], "15550000001")
				b := start(t, programs[(round+1)%2], dbs[1], "15550000002")
				if round == 0 {
					offer := b.ask(request{Op: "bundle"})
					a.ask(request{Op: "process", Name: b.name, Bundle: offer.Bundle})
				}
				talk(a, b, fmt.Sprint("round ", round))
				a.stop()
				b.stop()
			}
		})
	}
}
