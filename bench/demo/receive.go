package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/sigcore/sigcore/binary"
	"github.com/sigcore/sigcore/send"
	"github.com/sigcore/sigcore/signal"
)

// receive reads a frame from the server and returns the id and the text of the
// message in it.
func (d *device) receive(ctx context.Context, frame []byte) (id, content string, err error) {
	node, err := binary.UnmarshalFrame(frame)
	if err != nil {
		return "", "", err
	}
	attr, _ := node.Attr("id")
	id = attr.String()
	from, _ := node.Attr("from")
	chat, ok := from.JID()
	if !ok {
		return id, "", errors.New("stanza from nobody")
	}
	sender := chat
	if participant, ok := node.Attr("participant"); ok {
		if sender, ok = participant.JID(); !ok {
			return id, "", errors.New("stanza of no participant")
		}
	}
	children := node.Content.Nodes()
	for i := range children {
		if children[i].Tag != "enc" {
			continue
		}
		plaintext, err := d.open(ctx, chat, sender, &children[i])
		if err != nil {
			return id, "", err
		}
		if content, err = d.take(ctx, sender, plaintext); err != nil {
			return id, "", err
		}
	}
	return id, content, nil
}

// open decrypts an enc node and takes the padding off.
func (d *device) open(ctx context.Context, chat, sender binary.JID, enc *binary.Node) ([]byte, error) {
	v, _ := enc.Attr("v")
	version, err := strconv.Atoi(v.String())
	if err != nil {
		return nil, fmt.Errorf("version of enc: %w", err)
	}
	kind, _ := enc.Attr("type")
	var plaintext []byte
	typ, ok := signal.MessageTypeOf(kind.String())
	switch {
	case !ok:
		return nil, fmt.Errorf("enc of type %q", kind)
	case typ == signal.TypeSenderKey:
		name := signal.SenderKeyName{Group: chat.String(), Sender: send.SignalAddress(sender)}
		plaintext, err = d.account.DecryptGroup(ctx, name, enc.Content.Data())
	default:
		var m *signal.Decrypted
		if m, err = d.account.Decrypt(ctx, send.SignalAddress(sender), typ, enc.Content.Data()); err == nil {
			plaintext = m.Plaintext
		}
	}
	if err != nil {
		return nil, err
	}
	return send.Unpad(plaintext, version)
}

// take does what a message asks for and returns its text.
func (d *device) take(ctx context.Context, sender binary.JID, message []byte) (string, error) {
	fields, err := decodeFields(message)
	if err != nil {
		return "", err
	}
	if key, ok := fields[distribution]; ok {
		f, err := decodeFields(key)
		if err != nil {
			return "", err
		}
		name := signal.SenderKeyName{Group: string(f[1]), Sender: send.SignalAddress(sender)}
		if _, err := d.account.ProcessSenderKey(ctx, name, f[2]); err != nil {
			return "", err
		}
	}
	if sent, ok := fields[deviceSent]; ok {
		f, err := decodeFields(sent)
		if err != nil {
			return "", err
		}
		return d.take(ctx, sender, f[2])
	}
	return string(fields[conversation]), nil
}
