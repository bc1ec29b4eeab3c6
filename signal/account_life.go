package signal

import (
	"context"
	"errors"
	"sync"
)

// ErrAccountClosed is returned by the operations of an account after Close.
var ErrAccountClosed = errors.New("signal: account is closed")

// life counts the operations that are under way, so that Close can wait for
// them.
type life struct {
	mu     sync.Mutex
	ops    int
	closed bool
	idle   chan struct{} // closed when the last operation ends, after end
}

func (l *life) enter() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ErrAccountClosed
	}
	l.ops++
	return nil
}

func (l *life) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ops--; l.ops == 0 && l.idle != nil {
		close(l.idle)
		l.idle = nil
	}
}

// end lets no operation begin any more and waits for those that are under way.
func (l *life) end(ctx context.Context) error {
	l.mu.Lock()
	l.closed = true
	if l.ops == 0 {
		l.mu.Unlock()
		return nil
	}
	if l.idle == nil {
		l.idle = make(chan struct{})
	}
	idle := l.idle
	l.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
