package admin

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzLocate: whatever is asked, and by whomever, the answer is JSON with one of the
// codes that the client knows; nobody without the secret gets one; the key reaches the backend as
// it is.
func FuzzLocate(f *testing.F) {
	f.Add("key=a%20b", "Bearer hush")
	f.Add("key64="+base64.RawURLEncoding.EncodeToString([]byte("\x00\xff\r\n")), "Bearer hush")
	f.Add("key64=YQ==&key=a", "Bearer hush")
	f.Add("key64=*", "bearer hush")
	f.Add("key=%zz;&key", "Bearer hush ")
	f.Add("", "Basic aHVzaA==")
	f.Fuzz(func(t *testing.T, query, authorization string) {
		backend := &fake{}
		handler := NewHandler(backend, http.NotFoundHandler(), Access{Secret: "hush"})
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/locate", nil)
		request.URL.RawQuery = query
		request.Header.Set("Authorization", authorization)
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		require.True(t, json.Valid(answer.Body.Bytes()))
		if authorization != "Bearer hush" {
			require.Equal(t, http.StatusUnauthorized, answer.Code)
			require.Empty(t, backend.keys)
			return
		}
		if answer.Code != http.StatusOK {
			require.Equal(t, http.StatusBadRequest, answer.Code)
			require.Empty(t, backend.keys)
			return
		}
		var location Location
		require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &location))
		require.Equal(t, backend.keys, []string{string(location.Key64)})
		if values, _ := url.ParseQuery(query); values.Has("key") {
			require.Equal(t, values.Get("key"), backend.keys[0])
		}
	})
}
