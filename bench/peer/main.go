// Command peer puts sigcore behind the line protocol of the conformance
// harnesses: one JSON object a line on standard input, one a line on standard
// output, in order, until the input ends. It never answers a request twice and
// never ends because of one.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/sigcore/sigcore/internal/random"
)

// answer is the fields of a successful answer, besides ok and id.
type answer map[string]any

// peer is the state of one process: its randomness and its parties.
type peer struct {
	rng       *source
	parties   map[string]*party
	databases map[string]*backend // by path
	killed    map[killedParty]bool
}

// operation handles one request, whose whole JSON object is in body.
type operation func(p *peer, body json.RawMessage) (answer, error)

// operations is filled by the files of this package, each with its own.
var operations = map[string]operation{}

// register adds an operation whose request decodes into an R.
func register[R any](name string, f func(p *peer, r *R) (answer, error)) {
	operations[name] = func(p *peer, body json.RawMessage) (answer, error) {
		var r R
		if err := json.Unmarshal(body, &r); err != nil {
			return nil, fmt.Errorf("%w: %w", errBadRequest, err)
		}
		return f(p, &r)
	}
}

func main() {
	p := newPeer()
	random.Install(p.rng)
	if err := p.serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "peer:", err)
		os.Exit(1)
	}
}

func newPeer() *peer {
	return &peer{rng: newSource(), parties: make(map[string]*party), killed: make(map[killedParty]bool), databases: make(map[string]*backend)}
}

// serve answers every line of r on w.
func (p *peer) serve(r io.Reader, w io.Writer) error {
	in := bufio.NewReaderSize(r, 1<<16)
	out := bufio.NewWriterSize(w, 1<<16)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			if _, err := out.Write(p.answer(line)); err != nil {
				return err
			}
			if err := out.Flush(); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// answer handles one line and returns the line to write.
func (p *peer) answer(line []byte) []byte {
	var head struct {
		Op json.RawMessage
		ID json.RawMessage
	}
	fields, err := answer(nil), json.Unmarshal(line, &head)
	if err != nil {
		err = fmt.Errorf("%w: %w", errBadRequest, err)
	} else {
		fields, err = p.run(head.Op, line)
	}
	if err == nil {
		if fields == nil {
			fields = answer{}
		}
		fields["ok"] = true
	} else {
		fields = answer{"ok": false, "error": err.Error(), "class": class(err)}
	}
	if head.ID != nil {
		fields["id"] = head.ID
	}
	out, err := json.Marshal(fields)
	if err != nil { // an id that is not JSON cannot get here
		out, _ = json.Marshal(answer{"ok": false, "error": err.Error(), "class": "encode"})
	}
	return append(out, '\n')
}

// run finds the operation and turns a panic into an error.
func (p *peer) run(op json.RawMessage, body []byte) (fields answer, err error) {
	var name string
	if err := json.Unmarshal(op, &name); err != nil || name == "" {
		return nil, fmt.Errorf("%w: no operation", errBadRequest)
	}
	f := operations[name]
	if f == nil {
		return nil, fmt.Errorf("%w: %q", errUnknownOp, name)
	}
	defer func() {
		if v := recover(); v != nil {
			fields, err = nil, fmt.Errorf("%w: %v", errPanic, v)
		}
	}()
	return f(p, body)
}
