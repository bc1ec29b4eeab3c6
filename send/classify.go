package send

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// A Class is what a stanza says about the message that it carries.
type Class struct {
	Type string // of the stanza: text, media, poll, event or reaction
	Edit string // "" for none
	Enc
}

// Values of the attribute edit.
const (
	EditMessage      = "1"
	EditPin          = "2"
	EditAdmin        = "3"
	EditSenderRevoke = "7"
	EditAdminRevoke  = "8"
)

// Classify reads off an encoded message what its stanza has to say about it.
// edit, unless it is empty, is the attribute of that name whatever the message
// is. The error is [ErrMalformed].
func Classify(message []byte, edit string) (Class, error) {
	outer, err := scan(message)
	if err != nil {
		return Class{}, err
	}
	inner, err := outer.unwrap()
	if err != nil {
		return Class{}, err
	}
	c := Class{Edit: edit}
	if c.Edit == "" {
		c.Edit = inner.edit()
	}
	c.Type = inner.stanzaType()
	c.MediaType = inner.mediaType()
	if outer.has(fieldLottieSticker) {
		c.MediaType = "sticker"
	}
	c.HideDecryptFail = c.Edit != "" && c.Edit != EditSenderRevoke && c.Edit != EditAdminRevoke || inner.hidden()
	return c, nil
}

// Field numbers of WhatsApp's Message that decide.
const (
	fieldConversation      = 1
	fieldImage             = 3
	fieldContact           = 4
	fieldLocation          = 5
	fieldExtendedText      = 6
	fieldDocument          = 7
	fieldAudio             = 8
	fieldVideo             = 9
	fieldProtocol          = 12
	fieldContacts          = 13
	fieldSendPayment       = 16
	fieldLiveLocation      = 18
	fieldRequestPayment    = 22
	fieldDeclinePayment    = 23
	fieldCancelPayment     = 24
	fieldSticker           = 26
	fieldGroupInvite       = 28
	fieldTemplateReply     = 29
	fieldProduct           = 30
	fieldList              = 36
	fieldOrder             = 38
	fieldListResponse      = 39
	fieldButtonsResponse   = 43
	fieldPaymentInvite     = 44
	fieldInteractive       = 45
	fieldInteractiveReply  = 48
	fieldPoll              = 49
	fieldRequestNumber     = 54
	fieldEdited            = 58
	fieldPollV2            = 60
	fieldPin               = 63
	fieldPollV3            = 64
	fieldVideoNote         = 66
	fieldHistoryBundle     = 70
	fieldEncComment        = 71
	fieldLottieSticker     = 74
	fieldEvent             = 75
	fieldEncEventResponse  = 76
	fieldAdminInvite       = 78
	fieldSecretEncrypted   = 82
	fieldAlbum             = 83
	fieldStickerPack       = 86
	fieldPollResult        = 88
	fieldHistoryNotice     = 102
	fieldPollV5            = 111
	fieldFollowerInvite    = 113
	fieldPollResultV3      = 115
	fieldConditionalReveal = 120

	maxField = 127 // of the numbers above
)

// wrappers are the fields that carry a message, in their field 1, of which the
// class is that of what is inside.
var wrappers = [...]protowire.Number{
	40, 37, 55, 59, 53, 62, 67, 91, 90, 85, 96, 103, 92, 95, 87, 101, 106, 118, fieldLottieSticker, 99, 116, 117, 93,
}

// fields are the length-delimited fields of a message, of each the last.
type fields [maxField + 1][]byte

// scan reads the fields of an encoded message.
func scan(b []byte) (*fields, error) {
	f := new(fields)
	for at := 0; at < len(b); {
		num, typ, n := protowire.ConsumeTag(b[at:])
		if n < 0 {
			return nil, fmt.Errorf("%w at offset %d", ErrMalformed, at)
		}
		l := protowire.ConsumeFieldValue(num, typ, b[at+n:])
		if l < 0 {
			return nil, fmt.Errorf("%w at offset %d", ErrMalformed, at)
		}
		if num <= maxField && typ == protowire.BytesType {
			v, _ := protowire.ConsumeBytes(b[at+n:])
			f[num] = v[:len(v):len(v)]
			if v == nil {
				f[num] = []byte{}
			}
		}
		at += n + l
	}
	return f, nil
}

func (f *fields) has(num protowire.Number) bool { return f[num] != nil }

func (f *fields) any(nums ...protowire.Number) bool {
	for _, n := range nums {
		if f.has(n) {
			return true
		}
	}
	return false
}

// maxWrappers bounds how many wrappers are followed.
const maxWrappers = 32

// unwrap follows the wrappers to the innermost message. One without a message
// inside is where it ends.
func (f *fields) unwrap() (*fields, error) {
	for range maxWrappers {
		var inner []byte
		for _, w := range wrappers {
			if inner = f.inside(w, 1); inner != nil {
				break
			}
		}
		if inner == nil {
			inner = f.inside(fieldDeviceSent, 2)
		}
		if inner == nil {
			return f, nil
		}
		next, err := scan(inner)
		if err != nil {
			return nil, err
		}
		f = next
	}
	return f, nil
}

// inside returns a length-delimited field of a field, nil if there is none.
func (f *fields) inside(num, of protowire.Number) []byte {
	if !f.has(num) {
		return nil
	}
	v, typ := lookField(f[num], of)
	if typ != protowire.BytesType {
		return nil
	}
	b, _ := protowire.ConsumeBytes(v)
	if b == nil {
		b = []byte{}
	}
	return b
}

// number returns a varint field of a field, 0 if there is none.
func (f *fields) number(num, of protowire.Number) uint64 {
	v, typ := lookField(f[num], of)
	if typ != protowire.VarintType {
		return 0
	}
	n, _ := protowire.ConsumeVarint(v)
	return n
}

// lookField returns the value of the last field of that number, with type -1 if
// there is none, also if what is before it does not parse.
func lookField(b []byte, want protowire.Number) (value []byte, found protowire.Type) {
	found = -1
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			break
		}
		l := protowire.ConsumeFieldValue(num, typ, b[n:])
		if l < 0 {
			break
		}
		if num == want {
			value, found = b[n:n+l], typ
		}
		b = b[n+l:]
	}
	return value, found
}

// Kinds of a secretEncryptedMessage.
const (
	secretEventEdit     = 1
	secretMessageEdit   = 2
	secretPollEdit      = 4
	secretPollAddOption = 5
)

func (f *fields) secretKind() uint64 { return f.number(fieldSecretEncrypted, 4) }

// link reports whether an extended text is about a link.
func (f *fields) link() bool {
	return strings.TrimSpace(string(f.inside(fieldExtendedText, 2))) != ""
}

func (f *fields) stanzaType() string {
	switch {
	case f.any(fieldReaction, fieldEncReaction):
		return "reaction"
	case f.any(fieldEvent, fieldEncEventResponse):
		return "event"
	}
	switch f.secretKind() {
	case secretEventEdit:
		return "event"
	case secretMessageEdit:
		return "text"
	case secretPollEdit, secretPollAddOption:
		return "poll"
	}
	switch {
	case f.any(fieldPoll, fieldPollV2, fieldPollV3, fieldPollV5, fieldPollUpdate):
		return "poll"
	case f.any(fieldConversation, fieldProtocol, fieldKeepInChat, fieldEdited, fieldPin, fieldInteractive, fieldTemplateReply,
		fieldRequestNumber, fieldEncComment, fieldAdminInvite, fieldFollowerInvite, fieldHistoryNotice, fieldAlbum,
		fieldRequestPayment, fieldSendPayment, fieldDeclinePayment, fieldCancelPayment, fieldPaymentInvite,
		fieldPollResult, fieldPollResultV3):
		return "text"
	case f.has(fieldExtendedText) && !f.link():
		return "text"
	}
	return "media"
}

func (f *fields) mediaType() string {
	for _, m := range [...]struct {
		num  protowire.Number
		name string
		flag protowire.Number // that makes it the other
		then string
	}{
		{num: fieldImage, name: "image"},
		{fieldVideo, "video", 8, "gif"},
		{num: fieldVideoNote, name: "ptv"},
		{fieldAudio, "audio", 6, "ptt"},
		{num: fieldDocument, name: "document"},
		{num: fieldSticker, name: "sticker"},
		{num: fieldStickerPack, name: "sticker_pack"},
		{fieldLocation, "location", 6, "livelocation"},
		{num: fieldLiveLocation, name: "livelocation"},
		{num: fieldContact, name: "vcard"},
		{num: fieldContacts, name: "contact_array"},
	} {
		if f.has(m.num) {
			if m.flag != 0 && f.number(m.num, m.flag) != 0 {
				return m.then
			}
			return m.name
		}
	}
	if f.link() || f.has(fieldGroupInvite) {
		return "url"
	}
	for _, m := range [...]struct {
		num  protowire.Number
		name string
	}{
		{fieldList, "list"},
		{fieldListResponse, "list_response"},
		{fieldButtonsResponse, "buttons_response"},
		{fieldOrder, "order"},
		{fieldProduct, "product"},
		{fieldInteractiveReply, "native_flow_response"},
		{fieldHistoryBundle, "group_history"},
	} {
		if f.has(m.num) {
			return m.name
		}
	}
	return ""
}

// Kinds of a protocolMessage.
const (
	protocolRevoke                = 0
	protocolEphemeralSyncResponse = 4
	protocolMessageEdit           = 14
	protocolRequestWelcome        = 18
	protocolMemberLabelChange     = 30
)

// hidden reports whether receivers who cannot decrypt should not show it.
func (f *fields) hidden() bool {
	if f.any(fieldReaction, fieldEncReaction, fieldPin, fieldEdited, fieldKeepInChat, fieldEncEventResponse,
		fieldHistoryNotice, fieldConditionalReveal) || f.inside(fieldPollUpdate, 2) != nil {
		return true
	}
	switch f.secretKind() {
	case secretEventEdit, secretPollEdit, secretPollAddOption:
		return true
	}
	if !f.has(fieldProtocol) {
		return false
	}
	switch f.number(fieldProtocol, 2) {
	case protocolEphemeralSyncResponse, protocolRequestWelcome, protocolMemberLabelChange:
		return true
	}
	return f.inside(fieldProtocol, 14) != nil
}

// edit infers the attribute from the message.
func (f *fields) edit() string {
	switch {
	case f.has(fieldPin):
		return EditPin
	case f.has(fieldEdited):
		return EditMessage
	case f.has(fieldReaction) && len(f.inside(fieldReaction, 2)) == 0:
		return EditSenderRevoke // it takes a reaction back
	case !f.has(fieldProtocol):
		return ""
	}
	switch f.number(fieldProtocol, 2) {
	case protocolMessageEdit:
		return EditMessage
	case protocolRevoke:
		key := f.inside(fieldProtocol, 1)
		if key == nil {
			return ""
		}
		if v, typ := lookField(key, 2); typ == protowire.VarintType && len(v) > 0 && v[0] != 0 {
			return EditSenderRevoke
		}
		return EditAdminRevoke
	}
	return ""
}
