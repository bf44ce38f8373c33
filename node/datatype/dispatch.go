package datatype

import (
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
)

// handler runs one command. The number of arguments has been checked.
type handler func(dst []byte, st record.State, req *command.Request, now int64) ([]byte, record.Effect)

// unlimited is the max of a command that takes any number of arguments.
const unlimited = 0

// operation is a handler and how many arguments it needs, the name included.
// MGET, DEL and the like take many keys at the proxy and one here.
type operation struct {
	min, max int
	run      handler
}

var operations = [...]operation{
	command.OpGet:    {2, 2, get},
	command.OpMGet:   {2, 2, mget},
	command.OpStrlen: {2, 2, strlen},
	command.OpGetDel: {2, 2, getDel},
	command.OpGetEX:  {2, unlimited, getEx},

	command.OpSet:    {3, unlimited, set},
	command.OpMSet:   {3, 3, set},
	command.OpSetNX:  {3, 3, setNX},
	command.OpSetEX:  {4, 4, setEX},
	command.OpPSetEX: {4, 4, pSetEX},
	command.OpGetSet: {3, 3, getSet},

	command.OpAppend:   {3, 3, appendTo},
	command.OpGetRange: {4, 4, getRange},
	command.OpSubstr:   {4, 4, getRange},
	command.OpSetRange: {4, 4, setRange},

	command.OpIncr:        {2, 2, incr},
	command.OpDecr:        {2, 2, decr},
	command.OpIncrBy:      {3, 3, incrBy},
	command.OpDecrBy:      {3, 3, decrBy},
	command.OpIncrByFloat: {3, 3, incrByFloat},

	command.OpSetBit:     {4, 4, setBit},
	command.OpGetBit:     {3, 3, getBit},
	command.OpBitCount:   {2, unlimited, bitCount},
	command.OpBitPos:     {3, unlimited, bitPos},
	command.OpBitField:   {2, unlimited, bitField},
	command.OpBitFieldRO: {2, unlimited, bitFieldRO},

	command.OpHSet:         {4, unlimited, hSet},
	command.OpHMSet:        {4, unlimited, hMSet},
	command.OpHSetNX:       {4, 4, hSetNX},
	command.OpHGet:         {3, 3, hGet},
	command.OpHMGet:        {3, unlimited, hMGet},
	command.OpHGetAll:      {2, 2, hGetAll},
	command.OpHKeys:        {2, 2, hKeys},
	command.OpHVals:        {2, 2, hVals},
	command.OpHDel:         {3, unlimited, hDel},
	command.OpHExists:      {3, 3, hExists},
	command.OpHLen:         {2, 2, hLen},
	command.OpHStrlen:      {3, 3, hStrlen},
	command.OpHIncrBy:      {4, 4, hIncrBy},
	command.OpHIncrByFloat: {4, 4, hIncrByFloat},
	command.OpHRandField:   {2, unlimited, hRandField},
	command.OpHScan:        {3, unlimited, hScan},

	command.OpDel:    {2, 2, del},
	command.OpUnlink: {2, 2, del},
	command.OpExists: {2, 2, exists},
	command.OpTouch:  {2, 2, exists},
	command.OpType:   {2, 2, typeOf},

	command.OpExpire:      {3, unlimited, expire},
	command.OpPExpire:     {3, unlimited, pExpire},
	command.OpExpireAt:    {3, unlimited, expireAt},
	command.OpPExpireAt:   {3, unlimited, pExpireAt},
	command.OpTTL:         {2, 2, ttl},
	command.OpPTTL:        {2, 2, pTTL},
	command.OpExpireTime:  {2, 2, expireTime},
	command.OpPExpireTime: {2, 2, pExpireTime},
	command.OpPersist:     {2, 2, persist},

	command.OpDumpState:    {2, 2, dumpState},
	command.OpRestoreState: {3, 4, restoreState},
	command.OpSizeState:    {2, 2, sizeState},
}
