package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Certificate is what is known of one that a process uses.
type Certificate struct {
	// Use is what it is for.
	Use     string
	Expires time.Time
	// Failed: what is in its file now makes no sense, and is not in force.
	Failed bool
}

// RegisterCertificates shows the certificates that list returns, which is called at every scrape.
func (r *Registry) RegisterCertificates(list func() []Certificate) {
	c := &collector{}
	c.values(prometheus.GaugeValue, "quoll_certificate_expiry_timestamp_seconds", "When a certificate expires, in Unix seconds.", "use", func(emit emit) {
		for _, certificate := range list() {
			emit(float64(certificate.Expires.Unix()), certificate.Use)
		}
	})
	c.values(prometheus.GaugeValue, "quoll_certificate_file_failed", "1 if what is in a certificate's file makes no sense, so that the one from before is in force.", "use", func(emit emit) {
		for _, certificate := range list() {
			emit(truth(certificate.Failed), certificate.Use)
		}
	})
	r.prometheus.MustRegister(c)
}
