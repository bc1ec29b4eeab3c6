package main

import (
	"bytes"
	"context"
	"path/filepath"
	"sync/atomic"

	"github.com/sigcore/sigcore/send"
	"github.com/sigcore/sigcore/signal"
	"github.com/sigcore/sigcore/signal/sqlstore"
	"github.com/sigcore/sigcore/signal/store"
)

// This file has the direct messages whose processor time and write transactions
// are measured, in memory and on a database.

// counting is a backend that counts write transactions.
type counting struct {
	store.Backend
	writes atomic.Int64
}

// Apply implements store.Backend.
func (c *counting) Apply(ctx context.Context, id store.AccountID, b *store.Batch) (uint64, error) {
	c.writes.Add(1)
	return c.Backend.Apply(ctx, id, b)
}

// newBackend returns a backend in memory, or on a database in a folder that stays
// until the process ends.
func newBackend(ctx context.Context, sqlite bool) (*counting, error) {
	if !sqlite {
		return &counting{Backend: store.NewMemory()}, nil
	}
	dir, err := databaseFolder()
	if err != nil {
		return nil, err
	}
	db, err := sqlstore.OpenSQLite(ctx, filepath.Join(dir, "compare.db"))
	if err != nil {
		return nil, err
	}
	return &counting{Backend: db}, nil
}

// observed is how many messages cpu_ns and write_tx are of.
const observed = 640

// observe measures one more run: the processor time of the process for each
// message, in nanoseconds, and the write transactions of all.
func (c *counting) observe(s subject) subject {
	s.observe = func() (cpu, writes float64, err error) {
		if s.prepare != nil {
			if err := s.prepare(observed); err != nil {
				return 0, 0, err
			}
		}
		before, count := cpuTime(), c.writes.Load()
		err = s.run(observed)
		return float64(cpuTime()-before) / observed, float64(c.writes.Load() - count), err
	}
	return s
}

// directSend is a message to a person with devices and to an own companion.
func directSend(devices int, sqlite bool) func() (subject, error) {
	return func() (subject, error) {
		ctx := context.Background()
		b, err := newBackend(ctx, sqlite)
		if err != nil {
			return subject{}, err
		}
		f, err := newFleetOver(ctx, b)
		if err != nil {
			return subject{}, err
		}
		m := &send.DirectMessage{
			Self: send.Self{PN: directSelf, DeviceIdentity: bytes.Repeat([]byte{0xad}, 192)},
			To:   directPeer, ID: "3EB0A1B2C3D4E5F60718", Type: "text", Message: groupMessage,
		}
		for i := range devices {
			j := directPeer
			j.Device = uint16(i)
			m.Devices = append(m.Devices, j)
		}
		m.Devices = append(m.Devices, companion)
		for _, j := range m.Devices {
			if err := f.meet(ctx, j, true); err != nil {
				return subject{}, err
			}
		}
		sub, err := sending(func() (*send.Stanza, error) { return send.Direct(ctx, f.account, m) })
		return b.observe(sub), err
	}
}

// steadyRead reads messages of one chain.
func steadyRead(sqlite bool) func() (subject, error) {
	return func() (subject, error) {
		ctx := context.Background()
		b, err := newBackend(ctx, sqlite)
		if err != nil {
			return subject{}, err
		}
		f, rec, bob, err := inbox(b)
		if err != nil {
			return subject{}, err
		}
		addr := send.SignalAddress(directPeer)
		if err := f.account.ImportSession(ctx, addr, signal.FormatSigcore, rec); err != nil {
			return subject{}, err
		}
		first, err := paddedMessage(bob)
		if err != nil {
			return subject{}, err
		}
		return b.observe(reading(
			func() ([]byte, error) { return paddedMessage(bob) },
			func(body []byte) error { return f.receive(ctx, addr, body) },
		)), f.receive(ctx, addr, first)
	}
}

func init() {
	contend("dm_send", "sigcore", directSend(1, false))
	contend("dm_send_5", "sigcore", directSend(4, false))
	contend("sqlite_dm_send", "sigcore", directSend(1, true))
	contend("dm_recv_steady", "sigcore", steadyRead(false))
	contend("sqlite_dm_recv", "sigcore", steadyRead(true))
}
