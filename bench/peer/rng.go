package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync"
)

// keptDraws bounds the log of draws; older ones are forgotten.
const keptDraws = 1 << 16

// source is the randomness of the process: the system's, a stream made from a
// seed, or a queue of exact draws.
type source struct {
	mu   sync.Mutex
	mode func(b []byte) error
	log  [][]byte
}

func newSource() *source { return &source{mode: system} }

func system(b []byte) error {
	_, err := rand.Read(b)
	return err
}

// Read is one draw.
func (s *source) Read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.mode(b); err != nil {
		return 0, err
	}
	if len(s.log) == keptDraws {
		s.log = append(s.log[:0:0], s.log[keptDraws/2:]...)
	}
	s.log = append(s.log, append([]byte(nil), b...))
	return len(b), nil
}

// seed makes all draws come from SHA-256(seed ‖ u64be(i)), i = 0, 1, ….
func (s *source) seed(seed []byte) {
	var stream []byte
	var i uint64
	s.install(func(b []byte) error {
		for len(stream) < len(b) {
			block := sha256.Sum256(binary.BigEndian.AppendUint64(append([]byte(nil), seed...), i))
			stream = append(stream, block[:]...)
			i++
		}
		stream = stream[copy(b, stream):]
		return nil
	})
}

// queue makes the next draws exactly these chunks; then every draw fails.
func (s *source) queue(chunks [][]byte) {
	s.install(func(b []byte) error {
		if len(chunks) == 0 {
			return fmt.Errorf("%w: the queue of draws is empty", errBadRequest)
		}
		if len(chunks[0]) != len(b) {
			return fmt.Errorf("%w: a draw of %d bytes meets a chunk of %d", errBadRequest, len(b), len(chunks[0]))
		}
		copy(b, chunks[0])
		chunks = chunks[1:]
		return nil
	})
}

func (s *source) install(mode func([]byte) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mode = mode
}

// takeLog returns the draws since the last call.
func (s *source) takeLog() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	log := s.log
	s.log = nil
	return log
}

func init() {
	register("rng_seed", func(p *peer, r *struct{ Seed *hexBytes }) (answer, error) {
		if r.Seed == nil {
			p.rng.install(system)
		} else {
			p.rng.seed(*r.Seed)
		}
		return nil, nil
	})
	register("rng_queue", func(p *peer, r *struct{ Chunks []hexBytes }) (answer, error) {
		chunks := make([][]byte, len(r.Chunks))
		for i, c := range r.Chunks {
			chunks[i] = c
		}
		p.rng.queue(chunks)
		return nil, nil
	})
	register("rng_log", func(p *peer, _ *struct{}) (answer, error) {
		log := make([]hexBytes, 0)
		for _, b := range p.rng.takeLog() {
			log = append(log, b)
		}
		return answer{"log": log}, nil
	})
}
