package signal

import (
	"context"
	"fmt"

	"github.com/sigcore/sigcore/signal/store"
)

// GroupIncoming is a received SenderKeyMessage and whose it is.
type GroupIncoming struct {
	Name SenderKeyName
	Body []byte
}

// GroupDecrypted is what came of one GroupIncoming: a plaintext, with its
// padding, or the reason why there is none.
type GroupDecrypted struct {
	Plaintext []byte
	Err       error
}

// DecryptGroupMany is DecryptGroup for many messages, of one sender or of
// several, with one read and one write: a backlog after some time offline. The
// results are in the order of items, which is the order in which they are read; a
// message that cannot be read does not hinder the others. The plaintexts share
// memory. An error of the whole means that nothing is changed, and that all
// messages can be given again.
func (a *Account) DecryptGroupMany(ctx context.Context, items []GroupIncoming) ([]GroupDecrypted, error) {
	at := make(map[SenderKeyName]int, 1) // of the row
	var rows []store.Key
	for i := range items {
		if _, ok := at[items[i].Name]; !ok {
			at[items[i].Name] = len(rows)
			rows = append(rows, items[i].Name.key())
		}
	}
	locks, err := a.locks.acquire(ctx, rows...)
	if err != nil {
		return nil, fmt.Errorf("signal: lock sender keys: %w", err)
	}
	defer locks.release()
	recs, err := a.load(ctx, "sender keys", rows...)
	if err != nil {
		return nil, err
	}
	keys, corrupt := make([]*SenderKey, len(rows)), make([]error, len(rows))
	for i := range rows {
		keys[i], corrupt[i] = parseSenderKeyRow(recs[i])
	}
	out := make([]GroupDecrypted, len(items))
	todo := make([]GroupDecryption, 0, len(items))
	of := make([]int, 0, len(items))
	for i := range items {
		row := at[items[i].Name]
		if out[i].Err = corrupt[row]; out[i].Err == nil {
			todo, of = append(todo, GroupDecryption{Key: keys[row], Message: items[i].Body}), append(of, i)
		}
	}
	plaintexts := DecryptGroupMany(nil, todo)
	for k, i := range of {
		out[i] = GroupDecrypted{todo[k].Plaintext, todo[k].Err}
	}
	var b store.Batch
	for i, k := range keys {
		if corrupt[i] != nil || !recs[i].Found {
			continue
		}
		rec, err := k.AppendBinary(nil)
		if err != nil {
			clear(plaintexts)
			return nil, err
		}
		if !sameRecord(recs[i], rec) {
			b.Put(rows[i], rec)
		}
	}
	if err := a.save(ctx, "sender keys", &b); err != nil {
		clear(plaintexts)
		return nil, err
	}
	return out, nil
}
