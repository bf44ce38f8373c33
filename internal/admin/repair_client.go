package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
)

// Repair lets all nodes compare their replicas. It calls each with every progress, and returns the
// last one, at the end. When ctx ends, so does the work.
func (c *Client) Repair(ctx context.Context, request RepairRequest, each func(RepairProgress)) (RepairProgress, error) {
	query := url.Values{"slots": {fmt.Sprintf("%d-%d", request.First, request.Last)}, "dry-run": {strconv.FormatBool(request.DryRun)}}
	if request.Node != "" {
		query.Set("node", request.Node)
	}
	var last RepairProgress
	body, err := c.download(ctx, http.MethodPost, "/v1/repair?"+query.Encode())
	if err != nil {
		return last, err
	}
	defer func() { _ = body.Close() }()
	for lines := json.NewDecoder(body); !last.Done; each(last) {
		last = RepairProgress{}
		switch err := lines.Decode(&last); {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return last, fmt.Errorf("the answer of %s broke off; see the log of the process there", c.base)
		case errors.As(err, new(*json.SyntaxError)), errors.As(err, new(*json.UnmarshalTypeError)):
			return last, c.stranger(http.StatusOK)
		case err != nil:
			return last, err
		}
	}
	return last, nil
}
