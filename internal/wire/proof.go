package wire

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
)

// nonce makes every handshake's proofs its own.
type nonce [32]byte

// magic begins every greeting, so that a stray client of something else is told
// from a peer of another version.
const magic = "QUOLL"

// sendGreeting says which protocol is spoken and whether a secret is needed.
func (h *handshake) sendGreeting() error {
	rand.Read(h.mine[:]) // never fails
	body := AppendUvarint([]byte(magic), ProtocolVersion)
	body = AppendBool(body, len(h.secret) > 0)
	return h.send(frameGreeting, append(body, h.mine[:]...))
}

// readGreeting leaves whatever a later version has behind the version unread.
func (h *handshake) readGreeting() error {
	body, err := h.expect(frameGreeting)
	if err != nil {
		return err
	}
	d := NewDecoder(body)
	if string(d.take(uint64(len(magic)))) != magic {
		return fmt.Errorf("%w: the peer is not a part of Quoll", ErrProtocol)
	}
	if version := d.Uvarint(); d.Err() == nil && version != ProtocolVersion {
		return fmt.Errorf("%w: the peer speaks version %d and this process version %d: run the same release of quoll on both",
			ErrVersion, version, ProtocolVersion)
	}
	secret := d.Bool()
	copy(h.theirs[:], d.take(uint64(len(h.theirs))))
	switch err := d.Done(); {
	case err != nil:
		return fmt.Errorf("%w: greeting: %w", ErrProtocol, err)
	case secret && len(h.secret) == 0:
		return fmt.Errorf("%w: the peer has one and this process has none: configure the same secret on both", ErrSecret)
	case !secret && len(h.secret) > 0:
		return fmt.Errorf("%w: this process has one and the peer has none: configure the same secret on both", ErrSecret)
	}
	return nil
}

// prove returns the proof that the sender of hello knows the secret, empty when
// there is none. It covers who sends, both nonces, and everything that the hello
// says, and so cannot be used in another place.
func (h *handshake) prove(dialer bool, hello []byte) []byte {
	if len(h.secret) == 0 {
		return nil
	}
	sender, first, second := "server", h.theirs, h.mine
	if h.dialer {
		first, second = h.mine, h.theirs
	}
	if dialer {
		sender = "dialer"
	}
	mac := hmac.New(sha256.New, h.secret)
	fmt.Fprintf(mac, "quoll peer protocol %d, hello of the %s\n", ProtocolVersion, sender)
	mac.Write(first[:])
	mac.Write(second[:])
	mac.Write(hello)
	return mac.Sum(nil)
}

// checkProof checks the peer's proof in constant time.
func (h *handshake) checkProof(hello, proof []byte) error {
	if !hmac.Equal(proof, h.prove(!h.dialer, hello)) {
		return fmt.Errorf("%w: that of the dialer and that of the server differ: configure the same secret on both", ErrSecret)
	}
	return nil
}
