// Package quorum counts the votes of quorum reads (rule R10). It is pure.
//
// A proxy asks a majority of a key's replicas, one of them for the reply and the
// version, the others for their version only. If all of a quorum report one version, and none
// reports a higher one, that is the answer: a chosen write is held by a majority, so every
// quorum meets it, and what a majority holds will not be taken back. Otherwise a write is
// in flight or a replica lags, and the slot's home has to say what is certain.
package quorum

import "github.com/quolldb/quoll/internal/record"

// Majority returns the least number of replicas that is a majority of n.
func Majority(n int) int { return n/2 + 1 }

// Decision is what the votes so far say.
type Decision uint8

// The decisions.
const (
	Wait    Decision = iota // more votes can still decide it
	Agreed                  // the reply that came with the version is the answer
	AskHome                 // the replicas differ
	Failed                  // too many of those asked did not answer: ask others
)

// Votes are the votes of one read. The zero Votes has asked nobody.
type Votes struct {
	need, asked uint8
	at          uint8 // votes for version, the highest reported
	below       uint8 // votes for lower versions
	failed      uint8
	expired     bool
	valued      bool           // the replica asked for the reply has answered,
	value       record.Version // with this version
	version     record.Version
}

// Start returns the votes of a read that asks so many of the key's replicas.
func Start(replicas, asked int) Votes {
	return Votes{need: uint8(Majority(replicas)), asked: uint8(asked)}
}

// Add counts the version that one of the replicas reported.
func (v *Votes) Add(version record.Version) Decision {
	switch {
	case v.at == 0:
		v.version, v.at = version, 1
	case version == v.version:
		v.at++
	case v.version.Less(version):
		v.below += v.at
		v.version, v.at = version, 1
	default:
		v.below++
	}
	return v.decide()
}

// AddValue is Add for the replica that sent the reply too.
func (v *Votes) AddValue(version record.Version) Decision {
	v.valued, v.value = true, version
	return v.Add(version)
}

// Expire notes that a replica found the state expired: only the home may answer
// nil, after a write (R12).
func (v *Votes) Expire() Decision {
	v.expired = true
	return v.decide()
}

// Fail notes that a replica will not answer.
func (v *Votes) Fail() Decision {
	v.failed++
	return v.decide()
}

// Version is the highest version that was reported: that of the answer, if it is Agreed.
func (v *Votes) Version() record.Version { return v.version }

func (v *Votes) decide() Decision {
	open := v.asked - v.at - v.below - v.failed
	switch {
	case v.expired:
		return AskHome
	case v.at >= v.need && v.valued && v.value == v.version:
		return Agreed
	case v.below > 0 && v.at+open < v.need, v.valued && v.value != v.version:
		return AskHome
	case v.asked-v.failed < v.need, open == 0 && !v.valued:
		return Failed
	case open == 0:
		return AskHome
	}
	return Wait
}
