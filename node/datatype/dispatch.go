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

	command.OpSAdd:        {3, unlimited, sAdd},
	command.OpSRem:        {3, unlimited, sRem},
	command.OpSIsMember:   {3, 3, sIsMember},
	command.OpSMIsMember:  {3, unlimited, sMIsMember},
	command.OpSMembers:    {2, 2, sMembers},
	command.OpSCard:       {2, 2, sCard},
	command.OpSPop:        {2, unlimited, sPop},
	command.OpSRandMember: {2, unlimited, sRandMember},
	command.OpSScan:       {3, unlimited, sScan},
	command.OpSMove:       {4, 4, sMove},
	command.OpLPush:       {3, unlimited, lPush},
	command.OpRPush:       {3, unlimited, rPush},
	command.OpLPushX:      {3, unlimited, lPushX},
	command.OpRPushX:      {3, unlimited, rPushX},
	command.OpLPop:        {2, 3, lPop},
	command.OpRPop:        {2, 3, rPop},
	command.OpLLen:        {2, 2, lLen},
	command.OpLRange:      {4, 4, lRange},
	command.OpLIndex:      {3, 3, lIndex},
	command.OpLSet:        {4, 4, lSet},
	command.OpLInsert:     {5, 5, lInsert},
	command.OpLRem:        {4, 4, lRem},
	command.OpLTrim:       {4, 4, lTrim},
	command.OpLPos:        {3, unlimited, lPos},
	command.OpLMove:       {5, 5, lMove},
	command.OpRPopLPush:   {3, 3, rPopLPush},
	command.OpLMPop:       {3, 4, lMPop},
	command.OpPFAdd:       {2, unlimited, pfAdd},
	command.OpPFCount:     {2, 2, pfCount},
	command.OpPFMerge:     {2, unlimited, pfMerge},
	command.OpPFRead:      {2, 2, pfRead},

	command.OpZAdd:             {4, unlimited, zAdd},
	command.OpZIncrBy:          {4, 4, zIncrBy},
	command.OpZRem:             {3, unlimited, zRem},
	command.OpZRemRangeByRank:  {4, 4, zRemRangeByRank},
	command.OpZRemRangeByScore: {4, 4, zRemRangeByScore},
	command.OpZRemRangeByLex:   {4, 4, zRemRangeByLex},
	command.OpZPopMin:          {2, unlimited, zPopMin},
	command.OpZPopMax:          {2, unlimited, zPopMax},
	command.OpZMPop:            {3, 4, zMPop},
	command.OpZScore:           {3, 3, zScore},
	command.OpZMScore:          {3, unlimited, zMScore},
	command.OpZCard:            {2, 2, zCard},
	command.OpZRank:            {3, 4, zRank},
	command.OpZRevRank:         {3, 4, zRevRank},
	command.OpZCount:           {4, 4, zCount},
	command.OpZLexCount:        {4, 4, zLexCount},
	command.OpZRange:           {4, unlimited, zRange},
	command.OpZRevRange:        {4, unlimited, zRevRange},
	command.OpZRangeByScore:    {4, unlimited, zRangeByScore},
	command.OpZRevRangeByScore: {4, unlimited, zRevRangeByScore},
	command.OpZRangeByLex:      {4, unlimited, zRangeByLex},
	command.OpZRevRangeByLex:   {4, unlimited, zRevRangeByLex},
	command.OpZRandMember:      {2, unlimited, zRandMember},
	command.OpZScan:            {3, unlimited, zScan},

	command.OpGeoAdd:              {5, unlimited, geoAdd},
	command.OpGeoDist:             {4, unlimited, geoDist},
	command.OpGeoHash:             {2, unlimited, geoHash},
	command.OpGeoPos:              {2, unlimited, geoPos},
	command.OpGeoSearch:           {7, unlimited, geoSearch},
	command.OpGeoRadiusRO:         {6, unlimited, geoSearch},
	command.OpGeoRadiusByMemberRO: {5, unlimited, geoSearch},
	command.OpGeoRadius:           {6, unlimited, geoSearch},
	command.OpGeoRadiusByMember:   {5, unlimited, geoSearch},

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

	command.OpDump:    {2, 2, dump},
	command.OpRestore: {4, unlimited, restore},

	command.OpSort:   {2, unlimited, sortWritable},
	command.OpSortRO: {2, unlimited, sortReadOnly},

	command.OpDumpState:    {2, 2, dumpState},
	command.OpMembers:      {4, 4, allMembers},
	command.OpRestoreState: {3, 4, restoreState},
	command.OpSizeState:    {2, 2, sizeState},
	command.OpObjectState:  {3, 3, objectState},
}
