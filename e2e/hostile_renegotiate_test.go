//go:build unix

package e2e

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"net"
	"strings"
	"time"
)

// An attack of TestHostile that package crypto/tls cannot do: a client of TLS 1.2 that asks for another handshake on its connection, which costs a server much more than the client.

// renegotiations ask once, when it is known that what is sealed by hand is understood.
func renegotiations(ctx context.Context, h hostileTargets, random *rand.Rand) {
	ports := h.secured()
	asks := map[string][2]string{ports[0].name: {"PING\r\n", "-NOAUTH "}, ports[2].name: {"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 OK"}}
	each(ctx, 20*time.Millisecond, func() {
		port := ports[2*random.IntN(2)]
		client, err := dialByHand(ctx, port.address, h.stolen.config(port.owner, tls.VersionTLS12))
		if err != nil {
			return
		}
		defer client.secure.Close()
		ask := asks[port.name]
		if heard, err := client.say(recordData, []byte(ask[0])); err != nil || !strings.HasPrefix(heard, ask[1]) {
			return
		}
		heard, err := client.say(recordHandshakes, client.hello)
		if timeout, ok := errors.AsType[net.Error](err); err == nil || ok && timeout.Timeout() {
			h.t.Errorf("%s: who asks for another handshake is not turned out: he heard %q", port.name, heard)
			return
		}
		if ctx.Err() == nil {
			h.did("renegotiations refused: " + port.name)
		}
	})
}

// The types of records of TLS.
const (
	recordHandshakes = 22
	recordData       = 23
)

// byHand is a connection of TLS 1.2 on which a test seals what it sends by itself, with AES-128-GCM.
type byHand struct {
	over   *recorder
	secure *tls.Conn // reads
	seal   cipher.AEAD
	salt   []byte
	sealed uint64 // records
	hello  []byte // the message that began the handshake
}

// dialByHand connects, and derives the keys as RFC 5246 says.
func dialByHand(ctx context.Context, address string, config *tls.Config) (*byHand, error) {
	conn := dialHostile(ctx, address)
	if conn == nil {
		return nil, errors.New("not connected")
	}
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	var keys bytes.Buffer
	config.CipherSuites, config.KeyLogWriter = []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}, &keys
	c := &byHand{over: &recorder{Conn: conn, closed: make(chan struct{})}, sealed: 1} // the handshake has sealed one
	c.secure = tls.Client(c.over, config)
	if err := c.secure.Handshake(); err != nil {
		conn.Close()
		return nil, err
	}
	sent, heard, logged := c.over.sentSoFar(), c.over.heardSoFar(), strings.Fields(keys.String())
	if len(logged) != 3 {
		return nil, errors.New("no key was logged")
	}
	master, err := hex.DecodeString(logged[2])
	if err != nil {
		return nil, err
	}
	const header, random = 5, 5 + 4 + 2 // of a record; where the random number of the first message is
	c.hello = sent[header : header+int(binary.BigEndian.Uint16(sent[3:]))]
	block := expand(master, []byte("key expansion"), heard[random:random+32], sent[random:random+32])
	cipherOf, err := aes.NewCipher(block[:16])
	if err != nil {
		return nil, err
	}
	c.salt = block[32:36] // behind the keys of both sides
	c.seal, err = cipher.NewGCM(cipherOf)
	return c, err
}

// expand is the pseudorandom function of TLS 1.2, as far as the keys need it.
func expand(secret []byte, seed ...[]byte) (block []byte) {
	mac := func(parts ...[]byte) []byte {
		h := hmac.New(sha256.New, secret)
		for _, part := range parts {
			h.Write(part)
		}
		return h.Sum(nil)
	}
	for a := mac(seed...); len(block) < 40; a = mac(a) {
		block = append(block, mac(append([][]byte{a}, seed...)...)...)
	}
	return block
}

// say sends a record and returns what comes.
func (c *byHand) say(kind byte, text []byte) (string, error) {
	number := binary.BigEndian.AppendUint64(nil, c.sealed)
	c.sealed++
	head := binary.BigEndian.AppendUint16([]byte{kind, 3, 3}, uint16(len(text)))
	sealed := c.seal.Seal(number, append(bytes.Clone(c.salt), number...), text, append(bytes.Clone(number), head...))
	binary.BigEndian.PutUint16(head[3:], uint16(len(sealed)))
	if _, err := c.over.Write(append(head, sealed...)); err != nil {
		return "", err
	}
	answer := make([]byte, 1000)
	n, err := c.secure.Read(answer)
	return string(answer[:n]), err
}
