package send

import (
	"errors"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// pb builds encoded messages.
type pb []byte

func (b pb) msg(num protowire.Number, v ...byte) pb {
	return append(appendLen(b, num, len(v)), v...)
}

func (b pb) num(num protowire.Number, v uint64) pb {
	return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), v)
}

func TestClassify(t *testing.T) {
	text := pb{}.msg(1, 'x')
	link := func(matched string) pb { return pb{}.msg(6, pb{}.msg(1, 'x').msg(2, []byte(matched)...)...) }
	protocol := func(kind uint64) pb { return pb{}.msg(12, pb{}.msg(1, pb{}.num(2, 1)...).num(2, kind)...) }
	secret := func(kind uint64) pb { return pb{}.msg(82, pb{}.num(4, kind)...) }
	const hide = true
	for name, c := range map[string]struct {
		message          pb
		edit             string
		typ, media, want string
		hide             bool
	}{
		"nothing":                       {nil, "", "media", "", "", false},
		"conversation":                  {text, "", "text", "", "", false},
		"extended text":                 {link(""), "", "text", "", "", false},
		"a blank link":                  {link(" \t"), "", "text", "", "", false},
		"a link":                        {link("https://x.example"), "", "media", "url", "", false},
		"image":                         {pb{}.msg(3), "", "media", "image", "", false},
		"video":                         {pb{}.msg(9), "", "media", "video", "", false},
		"gif":                           {pb{}.msg(9, pb{}.num(8, 1)...), "", "media", "gif", "", false},
		"not a gif":                     {pb{}.msg(9, pb{}.num(8, 0)...), "", "media", "video", "", false},
		"video note":                    {pb{}.msg(66), "", "media", "ptv", "", false},
		"audio":                         {pb{}.msg(8), "", "media", "audio", "", false},
		"voice":                         {pb{}.msg(8, pb{}.num(6, 1)...), "", "media", "ptt", "", false},
		"document":                      {pb{}.msg(7), "", "media", "document", "", false},
		"sticker":                       {pb{}.msg(26), "", "media", "sticker", "", false},
		"sticker pack":                  {pb{}.msg(86), "", "media", "sticker_pack", "", false},
		"location":                      {pb{}.msg(5), "", "media", "location", "", false},
		"location that is live":         {pb{}.msg(5, pb{}.num(6, 1)...), "", "media", "livelocation", "", false},
		"live location":                 {pb{}.msg(18), "", "media", "livelocation", "", false},
		"contact":                       {pb{}.msg(4), "", "media", "vcard", "", false},
		"contacts":                      {pb{}.msg(13), "", "media", "contact_array", "", false},
		"group invite":                  {pb{}.msg(28), "", "media", "url", "", false},
		"list":                          {pb{}.msg(36), "", "media", "list", "", false},
		"answer to a list":              {pb{}.msg(39), "", "media", "list_response", "", false},
		"answer to buttons":             {pb{}.msg(43), "", "media", "buttons_response", "", false},
		"buttons":                       {pb{}.msg(42), "", "media", "", "", false},
		"order":                         {pb{}.msg(38), "", "media", "order", "", false},
		"product":                       {pb{}.msg(30), "", "media", "product", "", false},
		"answer to a flow":              {pb{}.msg(48), "", "media", "native_flow_response", "", false},
		"history":                       {pb{}.msg(70), "", "media", "group_history", "", false},
		"poll":                          {pb{}.msg(49), "", "poll", "", "", false},
		"poll, version 5":               {pb{}.msg(111), "", "poll", "", "", false},
		"a vote":                        {pb{}.msg(50, pb{}.msg(2)...), "", "poll", "", "", hide},
		"a poll update without a vote":  {pb{}.msg(50), "", "poll", "", "", false},
		"reaction":                      {pb{}.msg(46, pb{}.msg(2, 'x')...), "", "reaction", "", "", hide},
		"a reaction taken back":         {pb{}.msg(46), "", "reaction", "", "7", hide},
		"encrypted reaction":            {pb{}.msg(56), "", "reaction", "", "", hide},
		"event":                         {pb{}.msg(75), "", "event", "", "", false},
		"answer to an event":            {pb{}.msg(76), "", "event", "", "", hide},
		"secret edit of an event":       {secret(1), "", "event", "", "", hide},
		"secret edit of a message":      {secret(2), "", "text", "", "", false},
		"secret edit of a poll":         {secret(4), "", "poll", "", "", hide},
		"secret option of a poll":       {secret(5), "", "poll", "", "", hide},
		"secret of another kind":        {secret(3), "", "media", "", "", false},
		"pin":                           {pb{}.msg(63), "", "text", "", "2", hide},
		"keep":                          {pb{}.msg(51), "", "text", "", "", hide},
		"edited":                        {pb{}.msg(58, pb{}.msg(1, text...)...), "", "text", "", "1", hide},
		"comment":                       {pb{}.msg(71), "", "text", "", "", false},
		"album":                         {pb{}.msg(83), "", "text", "", "", false},
		"notice of history":             {pb{}.msg(102), "", "text", "", "", hide},
		"reveal":                        {pb{}.msg(120), "", "media", "", "", hide},
		"payment":                       {pb{}.msg(16), "", "text", "", "", false},
		"results of a poll":             {pb{}.msg(115), "", "text", "", "", false},
		"revoke":                        {protocol(0), "", "text", "", "7", false},
		"revoke by an admin":            {pb{}.msg(12, pb{}.msg(1, pb{}.num(2, 0)...)...), "", "text", "", "8", false},
		"protocol message":              {pb{}.msg(12), "", "text", "", "", false},
		"edit by a protocol message":    {protocol(14), "", "text", "", "1", hide},
		"with an edited message":        {pb{}.msg(12, pb{}.num(2, 3).msg(14)...), "", "text", "", "", hide},
		"answer about timers":           {protocol(4), "", "text", "", "", hide},
		"welcome":                       {protocol(18), "", "text", "", "", hide},
		"label":                         {protocol(30), "", "text", "", "", hide},
		"ephemeral setting":             {protocol(3), "", "text", "", "", false},
		"edit given":                    {text, "3", "text", "", "3", hide},
		"another edit given":            {text, "x9", "text", "", "x9", hide},
		"revoke given":                  {pb{}.msg(63), "8", "text", "", "8", hide},
		"revoke of a text given":        {text, "7", "text", "", "7", false},
		"view once":                     {pb{}.msg(37, pb{}.msg(1, pb{}.msg(3)...)...), "", "media", "image", "", false},
		"wrapped three times":           {pb{}.msg(40, pb{}.msg(1, pb{}.msg(55, pb{}.msg(1, pb{}.msg(31, pb{}.msg(2, pb{}.msg(8)...)...)...)...)...)...), "", "media", "audio", "", false},
		"a wrapper without a message":   {pb{}.msg(40, pb{}.num(3, 1)...).msg(3), "", "media", "image", "", false},
		"a wrapper of an empty message": {pb{}.msg(40, pb{}.msg(1)...).msg(3), "", "media", "", "", false},
		"lottie sticker":                {pb{}.msg(74, pb{}.msg(1, pb{}.msg(3)...)...), "", "media", "sticker", "", false},
		"a bot that is greeted":         {pb{}.msg(67, pb{}.msg(1, protocol(18)...)...), "", "text", "", "", hide},
		"sender key beside a text":      {pb{}.msg(2).msg(1, 'x'), "", "text", "", "", false},
		"of a type that it has not":     {pb{}.num(3, 1), "", "media", "", "", false},
	} {
		got, err := Classify(c.message, c.edit)
		if want := (Class{c.typ, c.want, Enc{c.media, c.hide}}); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, want)
		}
	}
	for _, bad := range []pb{{0x0a}, {0x0a, 5, 'x'}, pb{}.msg(40, pb{}.msg(1, 0x0a)...)} {
		if _, err := Classify(bad, ""); !errors.Is(err, ErrMalformed) {
			t.Errorf("%x: %v", bad, err)
		}
	}
}

func FuzzClassify(f *testing.F) {
	f.Add([]byte("\x0a\x05Hello"), "")
	f.Add([]byte(pb{}.msg(40, pb{}.msg(1, pb{}.msg(12, pb{}.num(2, 14)...)...)...)), "1")
	f.Fuzz(func(t *testing.T, message []byte, edit string) {
		c, err := Classify(message, edit)
		if err == nil && c.Type == "" || edit != "" && err == nil && c.Edit != edit {
			t.Errorf("%x: %+v", message, c)
		}
	})
}

func TestClassifyPeer(t *testing.T) {
	request := func(kind uint64) pb { return pb{}.msg(12, pb{}.num(2, 16).msg(16, pb{}.num(1, kind)...)...) }
	for name, c := range map[string]struct {
		message        pb
		force, private bool
	}{
		"history": {request(3), true, true}, "link preview": {request(2), true, false},
		"placeholder": {request(4), true, false}, "nonce": {request(9), true, false},
		"sticker": {request(0), false, false}, "recovery": {request(8), false, false},
		"no request": {pb{}.msg(12, pb{}.num(2, 6)...), false, false}, "nothing": {nil, false, false},
	} {
		if force, private, err := ClassifyPeer(c.message); err != nil || force != c.force || private != c.private {
			t.Errorf("%s: %v, %v, %v", name, force, private, err)
		}
	}
	if _, _, err := ClassifyPeer(pb{}.msg(12, 0x0a)); !errors.Is(err, ErrMalformed) {
		t.Errorf("malformed: %v", err)
	}
}
