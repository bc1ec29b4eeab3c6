package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/send"
	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/sqlstore"
)

// scale is how much of everything there is.
type scale struct {
	members  int // of the group, the two talkers among them
	devices  int // of each member
	preKeys  int // one-time prekeys of a talker; 812 is what a device uploads at first
	messages int // direct messages one way, in each of their steps
}

var fullScale = scale{members: 256, devices: 2, preKeys: 812, messages: 20}

// world is everything in the demo: the devices, the server between them, and
// the database.
type world struct {
	scale
	*ledger
	server     *server
	disk       *disk
	path       string // of the database
	at         map[binary.JID]*device
	all        []binary.JID // in order: the talkers' devices first
	alice, bob binary.JID
	group      binary.JID
	sent       int
}

// converse runs the demo in a temporary directory.
func converse(ctx context.Context, w io.Writer, size scale) (err error) {
	start := time.Now()
	dir, err := os.MkdirTemp("", "sigcore-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	x := &world{
		scale:  size,
		ledger: newLedger(w),
		server: newServer(),
		path:   filepath.Join(dir, "accounts.db"),
		at:     make(map[binary.JID]*device),
		group:  binary.JID{User: "120363000000000001", Server: binary.ServerGroup},
	}
	for i := range x.members {
		for d := range x.devices {
			x.all = append(x.all, binary.JID{User: fmt.Sprintf("1555%07d", i+1), Device: uint16(d), Server: binary.ServerUser})
		}
	}
	x.alice, x.bob = x.all[0], x.all[x.devices]
	if err := x.open(ctx, x.path); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, x.disk.Close()) }()

	fmt.Fprintln(w)
	if err := x.play(ctx, dir); err != nil {
		return err
	}
	if err := x.close(); err != nil {
		return err
	}
	fmt.Fprintf(w, "%d messages sent, %d copies arrived as they were sent; %d writes, %.1f MB of frames, %.1f s\n",
		x.sent, x.arrived, x.disk.writes.Load(), float64(x.server.bytes)/1e6, time.Since(start).Seconds())
	return nil
}

// open opens the database at path as the disk of the world.
func (x *world) open(ctx context.Context, path string) error {
	db, err := sqlstore.OpenSQLite(ctx, path)
	if err != nil {
		return err
	}
	old := x.disk
	x.disk, x.path = &disk{Backend: db}, path
	if old != nil {
		x.disk.writes.Store(old.writes.Load())
	}
	return nil
}

// play is the story.
func (x *world) play(ctx context.Context, dir string) error {
	steps := []struct {
		name string
		run  func() (int, string, error)
	}{
		{fmt.Sprintf("two talkers, %d one-time prekeys each", x.preKeys), func() (int, string, error) {
			return 2 * x.preKeys, "a prekey", x.register(ctx, x.preKeys, x.alice, x.bob)
		}},
		{"the other devices of the group", func() (int, string, error) {
			var others []binary.JID
			for _, j := range x.all {
				if j != x.alice && j != x.bob {
					others = append(others, j)
				}
			}
			return len(others), "a device", x.register(ctx, 1, others...)
		}},
		{"sessions of the talkers from bundles", func() (int, string, error) {
			n := 0
			for _, j := range []binary.JID{x.alice, x.bob} {
				set, err := x.at[j].connect(ctx, x.server, x.people(x.alice, x.bob))
				if err != nil {
					return 0, "", err
				}
				n += set
			}
			return n, "a session", nil
		}},
		{fmt.Sprintf("direct messages both ways, to %d devices each", 2*x.devices-1), func() (int, string, error) {
			for i := range x.messages {
				if err := x.say(ctx, x.alice, x.bob, fmt.Sprintf("question %d", i)); err != nil {
					return 0, "", err
				}
				if err := x.say(ctx, x.bob, x.alice, fmt.Sprintf("answer %d", i)); err != nil {
					return 0, "", err
				}
			}
			return 2 * x.messages, "a message", nil
		}},
		{"direct messages that arrive in reverse", func() (int, string, error) {
			return x.messages, "a message", x.reversed(ctx, x.alice, x.bob, x.messages)
		}},
		{"sessions with all devices of the group", func() (int, string, error) {
			n, err := x.at[x.alice].connect(ctx, x.server, x.all)
			return n, "a session", err
		}},
		{"first message to the group, with its key", x.groupStep(ctx, "hello, all", true, false)},
		{"a message to the group", x.groupStep(ctx, "still here", false, false)},
		{"rotation: a message under a fresh key", x.groupStep(ctx, "a fresh key", true, true)},
		{"a crash, and the database opened anew", func() (int, string, error) {
			return 0, "", x.crash(ctx, filepath.Join(dir, "after-the-crash.db"))
		}},
		{"direct messages after the crash", func() (int, string, error) {
			for i := range x.messages {
				if err := x.say(ctx, x.bob, x.alice, fmt.Sprintf("are you back? %d", i)); err != nil {
					return 0, "", err
				}
				if err := x.say(ctx, x.alice, x.bob, fmt.Sprintf("I am %d", i)); err != nil {
					return 0, "", err
				}
			}
			return 2 * x.messages, "a message", nil
		}},
		{"a message to the group after the crash", x.groupStep(ctx, "and the group too", false, false)},
	}
	for _, s := range steps {
		if err := x.step(s.name, s.run); err != nil {
			return err
		}
	}
	return nil
}

// people returns all devices of the users of the given ones.
func (x *world) people(users ...binary.JID) []binary.JID {
	var out []binary.JID
	for _, j := range x.all {
		if slices.ContainsFunc(users, func(u binary.JID) bool { return u.User == j.User }) {
			out = append(out, j)
		}
	}
	return out
}

// register makes the accounts of devices, many at once.
func (x *world) register(ctx context.Context, preKeys int, jids ...binary.JID) error {
	made := make(chan *device, len(jids))
	err := together(jids, func(j binary.JID) error {
		d, err := register(ctx, x.disk, x.server, j, preKeys)
		made <- d
		return err
	})
	close(made)
	for d := range made {
		if d != nil {
			x.at[d.jid] = d
		}
	}
	return err
}

// direct prepares a direct message and hands it to the server, which returns
// what is to be delivered.
func (x *world) direct(ctx context.Context, from, to binary.JID, content string) ([]delivery, error) {
	d := x.at[from]
	id, err := send.MessageID(time.Now(), from)
	if err != nil {
		return nil, err
	}
	stanza, err := send.Direct(ctx, d.account, &send.DirectMessage{
		Self: d.self(), To: to.NonAD(), ID: id, Type: "text",
		Message: text(content), Devices: x.people(from, to),
	})
	if err != nil {
		return nil, err
	}
	return x.post(from, id, content, stanza, x.people(from, to))
}

// post marshals a stanza, notes who must receive it, and routes it.
func (x *world) post(from binary.JID, id, content string, stanza *send.Stanza, to []binary.JID) ([]delivery, error) {
	if len(stanza.Failures) > 0 {
		return nil, fmt.Errorf("%d devices were not encrypted for: %w", len(stanza.Failures), stanza.Failures[0].Err)
	}
	frame, err := binary.Marshal(stanza.Node)
	if err != nil {
		return nil, err
	}
	for _, j := range to {
		if j != from {
			x.expect(id, j, content)
		}
	}
	x.sent++
	return x.server.route(from, frame, x.all)
}

// deliver has a device read a frame.
func (x *world) deliver(ctx context.Context, d delivery) error {
	id, content, err := x.at[d.to].receive(ctx, d.frame)
	if err != nil {
		return err
	}
	return x.receive(id, d.to, content)
}

// say sends a direct message and has it read.
func (x *world) say(ctx context.Context, from, to binary.JID, content string) error {
	out, err := x.direct(ctx, from, to, content)
	if err != nil {
		return err
	}
	for _, d := range out {
		if err := x.deliver(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// reversed sends n direct messages, and has the last one read first.
func (x *world) reversed(ctx context.Context, from, to binary.JID, n int) error {
	var held []delivery
	for i := range n {
		out, err := x.direct(ctx, from, to, fmt.Sprintf("number %d", i))
		if err != nil {
			return err
		}
		held = append(held, out...)
	}
	slices.Reverse(held)
	for _, d := range held {
		if err := x.deliver(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

// groupStep is a message of alice to the group that all devices read.
func (x *world) groupStep(ctx context.Context, content string, distribute, rotate bool) func() (int, string, error) {
	return func() (int, string, error) {
		d := x.at[x.alice]
		id, err := send.MessageID(time.Now(), x.alice)
		if err != nil {
			return 0, "", err
		}
		m := &send.GroupMessage{
			Self: d.self(), To: x.group, ID: id, Type: "text",
			Message: text(content), Rotate: rotate, PhashDevices: x.all,
		}
		if distribute {
			m.Distribute, m.Required = x.all, true
		}
		stanza, err := send.Group(ctx, d.account, m)
		if err != nil {
			return 0, "", err
		}
		out, err := x.post(x.alice, id, content, &stanza.Stanza, x.all)
		if err != nil {
			return 0, "", err
		}
		return len(out), "a device", together(out, func(d delivery) error { return x.deliver(ctx, d) })
	}
}

// crash stops the process of the demo while one message is being sent and
// another one being read, and goes on with what is on the disk.
func (x *world) crash(ctx context.Context, path string) error {
	read, err := x.direct(ctx, x.bob, x.alice, "read before the crash")
	if err != nil {
		return err
	}
	for _, d := range read {
		if err := x.deliver(ctx, d); err != nil {
			return err
		}
	}
	unread, err := x.direct(ctx, x.bob, x.alice, "not read before the crash")
	if err != nil {
		return err
	}

	x.disk.crashed.Store(true)
	for _, d := range unread {
		if err := x.deliver(ctx, d); !errors.Is(err, errCrash) {
			return fmt.Errorf("a message was read without being written: %w", err)
		}
	}
	const lost = "sent again after the crash"
	if _, err := x.direct(ctx, x.alice, x.bob, lost); !errors.Is(err, errCrash) {
		return fmt.Errorf("a message was sent without being written: %w", err)
	}
	if err := copyDatabase(x.path, path); err != nil {
		return err
	}
	if err := x.disk.Close(); err != nil {
		return err
	}

	if err := x.open(ctx, path); err != nil {
		return err
	}
	for j, d := range x.at {
		if x.at[j], err = d.reopen(ctx, x.disk); err != nil {
			return err
		}
	}
	// The server delivers again whatever was not acknowledged, and more.
	for _, d := range read {
		if err := x.deliver(ctx, d); !errors.Is(err, signal.ErrDuplicate) {
			return fmt.Errorf("a message was read twice: %w", err)
		}
	}
	for _, d := range unread {
		if err := x.deliver(ctx, d); err != nil {
			return err
		}
	}
	return x.say(ctx, x.alice, x.bob, lost)
}
