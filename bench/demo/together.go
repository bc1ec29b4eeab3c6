package main

import "sync"

// atOnce is how many devices work at the same time. They wait for the disk more
// than they compute, and those that wait together are written together.
const atOnce = 64

// together calls f for each item, up to atOnce at a time, and returns the first
// error.
func together[T any](items []T, f func(T) error) error {
	var (
		wg    sync.WaitGroup
		queue = make(chan T)
		errs  = make(chan error, len(items))
	)
	for range min(atOnce, len(items)) {
		wg.Go(func() {
			for item := range queue {
				if err := f(item); err != nil {
					errs <- err
				}
			}
		})
	}
	for _, item := range items {
		queue <- item
	}
	close(queue)
	wg.Wait()
	close(errs)
	return <-errs // nil if there is none
}
