//go:build !faults

package admin

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFaultsAreNotThereInUsualBuilds(t *testing.T) {
	handler := NewHandler(&fake{}, http.NotFoundHandler(), Access{Secret: "hush"})
	for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodPost} {
		request := httptest.NewRequestWithContext(t.Context(), method, "/v1/faults", nil)
		request.Header.Set("Authorization", "Bearer hush")
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		require.Equal(t, http.StatusNotFound, answer.Code, method)
	}
}
