package store

// Owner says who may write to an account. An account that nobody owns can be
// written by every process that has its backend open, guarded by the versions
// of rows alone. One that is owned is written by the owner and nobody else, and
// so the owner may keep in memory what it has read.
//
// The fence makes that hold also for an owner that was taken for dead: every
// acquisition gets a greater number, every batch carries the number of its
// owner, and Apply refuses a batch of any other one.
type Owner struct {
	// Fence is the number of the last acquisition, 0 if there was none.
	Fence uint64

	// Held is set until the owner of that number has released the account.
	Held bool

	// Holder is what the owner said about itself, for whoever has to find out
	// whether it is still alive.
	Holder string
}

// Admits returns an *OwnedError unless a batch with that fence may be applied:
// 0 to an account that nobody holds, another one to the account of its owner.
func (o Owner) Admits(fence uint64) error {
	if o.Held && o.Fence == fence || !o.Held && fence == 0 {
		return nil
	}
	return &OwnedError{Owner: o}
}
