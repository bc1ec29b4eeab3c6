package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"sync"
)

// A group commit: whoever gets the connection that writes executes the writes
// of all who wait for it in one transaction, each in a savepoint of its own, so
// that many accounts that write at once wait for the disk once. Every write is
// still as durable, and as alone, as if it had its own transaction.

// maxGroup bounds the writes of one transaction, so that the first of them does
// not wait long for the last.
const maxGroup = 128

// queuedWrite is a write that waits for the connection.
type queuedWrite struct {
	ctx   context.Context
	f     func(*conn) error
	err   error         // the outcome
	fault any           // what f panicked with
	done  chan struct{} // closed when there is an outcome
}

// writeQueue holds the writes that nobody executes yet, in their order.
type writeQueue struct {
	mu      sync.Mutex
	waiting []*queuedWrite
}

func (q *writeQueue) add(w *queuedWrite) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, w)
}

// remove takes w back, and reports whether it was still waiting.
func (q *writeQueue) remove(w *queuedWrite) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.waiting, w)
	if i < 0 {
		return false
	}
	q.waiting = slices.Delete(q.waiting, i, i+1)
	return true
}

// take removes up to maxGroup writes, with own among them if it is waiting.
func (q *writeQueue) take(own *queuedWrite) []*queuedWrite {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.waiting), maxGroup)
	group := slices.Clone(q.waiting[:n])
	q.waiting = slices.Delete(q.waiting, 0, n)
	if i := slices.Index(q.waiting, own); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
		group = append(group, own)
	}
	return group
}

// write executes f with the connection that writes, in a transaction that it
// may share with other writes. If f fails or panics, or the context has ended
// when f returns, what f did is undone, and nothing else.
func (s *SQLite) write(ctx context.Context, f func(*conn) error) error {
	w := &queuedWrite{ctx: ctx, f: f, done: make(chan struct{})}
	s.queue.add(w)
	c, err := s.writer.acquireUntil(ctx, w.done)
	if err != nil && s.queue.remove(w) {
		return err
	}
	// From here on w is executed, by another or here, and its outcome counts.
	if c != nil {
		func() {
			defer s.writer.release(c)
			s.lead(c, w)
		}()
	}
	<-w.done
	if w.fault != nil {
		panic(w.fault)
	}
	return w.err
}

// lead executes the queue unless own has an outcome already.
func (s *SQLite) lead(c *conn, own *queuedWrite) {
	select {
	case <-own.done:
		return
	default:
	}
	var group []*queuedWrite
	err := c.transaction(own.ctx, "BEGIN IMMEDIATE", func() error {
		group = s.queue.take(own)
		s.groups.Add(1)
		if len(group) == 1 {
			own.err = own.execute(c)
			return own.err
		}
		return c.run(group)
	})
	if group == nil { // there was no transaction: the others try for themselves
		s.queue.remove(own)
		group = []*queuedWrite{own}
	}
	for _, w := range group {
		if err != nil && w.err == nil && w.fault == nil {
			w.err = err
		}
		close(w.done)
	}
}

// run executes the writes of a group inside a transaction. An error means that
// the transaction is lost.
func (c *conn) run(group []*queuedWrite) error {
	for _, w := range group {
		if _, err := c.exec("SAVEPOINT one_write"); err != nil {
			return err
		}
		if w.err = w.execute(c); w.err != nil {
			// After some errors SQLite ends the whole transaction by itself.
			// Then there is no savepoint to go back to.
			if _, err := c.exec("ROLLBACK TO one_write"); err != nil {
				return fmt.Errorf("%w, after which the transaction was lost", w.err)
			}
		}
		if _, err := c.exec("RELEASE one_write"); err != nil {
			return err
		}
	}
	return nil
}

// execute calls f, and catches its panic for the goroutine that it belongs to.
func (w *queuedWrite) execute(c *conn) (err error) {
	defer func() {
		if w.fault = recover(); w.fault != nil {
			err = fmt.Errorf("panic: %v", w.fault)
		}
	}()
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if err := w.f(c); err != nil {
		return err
	}
	return w.ctx.Err()
}
