package signal

import (
	"context"

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
	out := make([]GroupDecrypted, len(items))
	err := a.run(ctx, "sender keys", rows, rows, func(t *txn) error {
		todo := make([]GroupDecryption, 0, len(items))
		of := make([]int, 0, len(items))
		for i := range items {
			r := t.asked[at[items[i].Name]]
			if out[i] = (GroupDecrypted{Err: r.err}); r.err != nil {
				continue
			}
			k := r.senderKey
			if k == nil {
				k = new(SenderKey) // which reads nothing
			}
			todo, of = append(todo, GroupDecryption{Key: k, Message: items[i].Body}), append(of, i)
		}
		DecryptGroupMany(nil, todo)
		for k, i := range of {
			out[i] = GroupDecrypted{todo[k].Plaintext, todo[k].Err}
			if r := t.asked[at[items[i].Name]]; out[i].Err == nil {
				r.setSenderKey(r.senderKey)
			}
		}
		return nil
	})
	if err != nil {
		for _, d := range out {
			clear(d.Plaintext)
		}
		return nil, err
	}
	return out, nil
}
