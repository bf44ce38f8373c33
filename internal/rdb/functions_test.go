package rdb

import (
	"context"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/redistest"
)

// TestFunctionsOfRedis: what a redis-server dumps is read, compressed or not, and what is written it restores.
func TestFunctionsOfRedis(t *testing.T) {
	ctx := context.Background()
	client := redis.NewClient(&redis.Options{Addr: redistest.Start(t)})
	defer client.Close()
	codes := []string{"#!lua name=a\nredis.register_function('f', function() return 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' end)",
		"#!lua name=b\nredis.register_function('g', function() end)"}
	for _, code := range codes {
		require.NoError(t, client.FunctionLoad(ctx, code).Err())
	}
	read := func() (texts []string) {
		payload, err := client.FunctionDump(ctx).Bytes()
		require.NoError(t, err)
		got, err := Functions(payload, 1<<20)
		require.NoError(t, err)
		for _, code := range got {
			texts = append(texts, string(code))
		}
		return texts
	}
	require.ElementsMatch(t, codes, read())
	require.NoError(t, client.FunctionFlush(ctx).Err())
	require.Empty(t, read())
	require.NoError(t, client.FunctionRestore(ctx, string(AppendFunctions(nil, []byte(codes[0]), []byte(codes[1])))).Err())
	require.ElementsMatch(t, codes, read())
}

func TestWhatIsNoPayloadOfFunctions(t *testing.T) {
	good := AppendFunctions(nil, []byte("a"), []byte("b"))
	for i := range good {
		_, err := Functions(good[:i], 100)
		require.ErrorIs(t, err, ErrChecksum)
	}
	_, err := Functions(Seal([]byte{opFunctionOld}), 100)
	require.ErrorIs(t, err, ErrOldFunction)
	_, err = Functions(Seal([]byte{typeString, 1, 'a'}), 100)
	require.ErrorIs(t, err, ErrNoFunction)
	_, err = Functions(Seal([]byte{opFunction, 2, 'a'}), 100)
	require.ErrorIs(t, err, ErrFunction)
	_, err = Functions(Seal([]byte{opFunction, encoded<<6 | encLZF, 4, 0x40, 200, 0, 'a', 0, 0}), 100)
	require.ErrorIs(t, err, ErrTooLong)
}
