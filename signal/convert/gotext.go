package convert

import (
	"encoding/base64"

	"github.com/sigcore/sigcore/signal"
	"google.golang.org/protobuf/encoding/protowire"
)

// A textReader reads a session of go.mau.fi/libsignal in the one form in which
// that library writes it: fields in order, no white space. It puts the protobuf
// form together as it goes. What differs in any way is left to the decoder of JSON,
// which also says what is wrong with it.
type textReader struct {
	b   []byte // what is left
	out []byte // protobuf
	bad bool
}

// goSessionText returns the protobuf form of a record, in buf if it fits, and
// whether the record has that one form.
func goSessionText(data, buf []byte) (record []byte, ok bool) {
	r := textReader{b: data, out: buf[:0]}
	r.lit(`{"SessionState":`)
	r.state(1)
	r.lit(`,"PreviousStates":[`)
	for n := 0; !r.bad && !r.next(']'); n++ {
		if n > 0 {
			r.lit(`,`)
		}
		r.bad = r.bad || n == signal.MaxArchived
		r.state(2)
	}
	r.lit(`]}`)
	return r.out, !r.bad && len(r.b) == 0
}

func (r *textReader) next(c byte) bool { return len(r.b) > 0 && r.b[0] == c }

// try reads a text if it is next.
func (r *textReader) try(s string) bool {
	if len(r.b) < len(s) || string(r.b[:len(s)]) != s {
		return false
	}
	r.b = r.b[len(s):]
	return true
}

// lit reads a text that has to be next.
func (r *textReader) lit(s string) {
	if !r.try(s) {
		r.bad = true
	}
}

// number reads a number of 32 bits.
func (r *textReader) number(name string) uint64 {
	r.lit(name)
	n, v := 0, uint64(0)
	for n < len(r.b) && n < 11 && r.b[n] >= '0' && r.b[n] <= '9' {
		v = v*10 + uint64(r.b[n]-'0')
		n++
	}
	if n == 0 || n > 1 && r.b[0] == '0' || v > 1<<32-1 {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return v
}

// bytes reads base64 of size bytes into a field.
func (r *textReader) bytes(name string, num protowire.Number, size int) {
	r.lit(name)
	text := base64.StdEncoding.EncodedLen(size)
	if r.bad || len(r.b) < text+2 || r.b[0] != '"' || r.b[text+1] != '"' {
		r.bad = true
		return
	}
	r.out = protowire.AppendVarint(protowire.AppendTag(r.out, num, protowire.BytesType), uint64(size))
	at := len(r.out)
	r.out = append(r.out, make([]byte, (size+2)/3*3)...)
	n, err := strictBase64.Decode(r.out[at:], r.b[1:text+1])
	if err != nil || n != size {
		r.bad = true
	}
	r.out = r.out[:at+size]
	r.b = r.b[text+2:]
}

var strictBase64 = base64.StdEncoding.Strict()

// key reads a tagged public key into a field.
func (r *textReader) key(name string, num protowire.Number) {
	at := len(r.out)
	r.bytes(name, num, 33)
	if !r.bad && r.out[at+2] != 5 {
		r.bad = true
	}
}

func (r *textReader) varint(num protowire.Number, v uint64) {
	r.out = protowire.AppendVarint(protowire.AppendTag(r.out, num, protowire.VarintType), v)
}

// open starts a message in a field, and returns where; close ends it.
func (r *textReader) open(num protowire.Number) int {
	r.out = append(protowire.AppendTag(r.out, num, protowire.BytesType), 0)
	return len(r.out)
}

func (r *textReader) close(at int) {
	n := len(r.out) - at
	size := protowire.SizeVarint(uint64(n))
	if size > 1 { // move it to where its length leaves it
		r.out = append(r.out, make([]byte, size-1)...)
		copy(r.out[at+size-1:], r.out[at:at+n])
	}
	protowire.AppendVarint(r.out[:at-1], uint64(n))
}

func (r *textReader) state(num protowire.Number) {
	if r.bad {
		return
	}
	at := r.open(num)
	r.key(`{"LocalIdentityPublic":`, 2)
	r.varint(11, r.number(`,"LocalRegistrationID":`))
	switch {
	case r.try(`,"NeedsRefresh":false`):
		r.varint(12, 0)
	case r.try(`,"NeedsRefresh":true`):
		r.varint(12, 1)
	default:
		r.bad = true
	}
	r.lit(`,"PendingKeyExchange":null,"PendingPreKey":`)
	if !r.try(`null`) {
		r.pending()
	}
	r.varint(5, r.number(`,"PreviousCounter":`))
	r.lit(`,"ReceiverChains":[`)
	for n := 0; !r.bad && !r.next(']'); n++ {
		if n > 0 {
			r.lit(`,`)
		}
		r.bad = r.bad || n == signal.MaxReceiverChains
		r.chain(7)
	}
	r.key(`],"RemoteIdentityPublic":`, 3)
	r.varint(10, r.number(`,"RemoteRegistrationID":`))
	r.bytes(`,"RootKey":`, 4, 32)
	r.key(`,"SenderBaseKey":`, 13)
	r.lit(`,"SenderChain":`)
	r.chain(6)
	r.varint(1, r.number(`,"SessionVersion":`))
	r.lit(`}`)
	r.close(at)
}

func (r *textReader) pending() {
	at := r.open(9)
	id := r.number(`{"PreKeyID":{"Value":`)
	switch {
	case r.try(`,"IsEmpty":false}`):
		r.varint(1, id)
	case !r.try(`,"IsEmpty":true}`):
		r.bad = true
	}
	r.varint(3, uint64(int64(int32(r.number(`,"SignedPreKeyID":`)))))
	r.key(`,"BaseKey":`, 2)
	r.lit(`}`)
	r.close(at)
}

// chain reads a chain without skipped keys, or the receiver's with some.
func (r *textReader) chain(num protowire.Number) {
	if r.bad {
		return
	}
	at := r.open(num)
	r.key(`{"SenderRatchetKeyPublic":`, 1)
	if r.try(`,"SenderRatchetKeyPrivate":null`) {
		if num == 7 { // there, and empty
			r.out = append(protowire.AppendTag(r.out, 2, protowire.BytesType), 0)
		}
	} else if num == 6 {
		r.bytes(`,"SenderRatchetKeyPrivate":`, 2, 32)
	} else {
		r.bad = true
		return
	}
	key := r.open(3)
	r.bytes(`,"ChainKey":{"Key":`, 2, 32)
	r.varint(1, r.number(`,"Index":`))
	r.close(key)
	r.lit(`},"MessageKeys":[`)
	for n := 0; !r.bad && !r.next(']'); n++ {
		if num == 6 || n == signal.MaxSkippedKeys {
			r.bad = true
			return
		}
		if n > 0 {
			r.lit(`,`)
		}
		kept := r.open(4)
		r.bytes(`{"CipherKey":`, 2, 32)
		r.bytes(`,"MacKey":`, 3, 32)
		r.bytes(`,"IV":`, 4, 16)
		r.varint(1, r.number(`,"Index":`))
		r.lit(`}`)
		r.close(kept)
	}
	r.lit(`]}`)
	r.close(at)
}
