package metrics

import (
	"log/slog"
	"net/http"
	"regexp"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Registry is everything that one process shows to Prometheus.
type Registry struct {
	prometheus *prometheus.Registry
}

// collecting is the CPU time that goes into collecting garbage, as the runtime estimates it when it has collected.
var collecting = regexp.MustCompile(`^/cpu/classes/gc/total:cpu-seconds$`)

// New returns a registry with the Go runtime, the process and the build in it.
func New(version, commit string) *Registry {
	r := &Registry{prometheus: prometheus.NewRegistry()}
	r.prometheus.MustRegister(
		collectors.NewGoCollector(collectors.WithGoCollectorRuntimeMetrics(collectors.GoRuntimeMetricsRule{Matcher: collecting})),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name:        "quoll_build_info",
			Help:        "What is running; the value is 1.",
			ConstLabels: prometheus.Labels{"version": version, "commit": commit, "goversion": runtime.Version()},
		}, func() float64 { return 1 }),
	)
	return r
}

// Handler serves the metrics to scrapers. A metric that cannot be collected is left
// out of the answer and logged.
func (r *Registry) Handler(log *slog.Logger) http.Handler {
	return promhttp.HandlerFor(r.prometheus, promhttp.HandlerOpts{
		ErrorHandling:       promhttp.ContinueOnError,
		ErrorLog:            slog.NewLogLogger(log.Handler(), slog.LevelError),
		MaxRequestsInFlight: 4,
	})
}
