# Prints the medians of redis and quoll, and their ratio, of lines "WHO TEST REQUESTS-A-SECOND" that are
# sorted by who, test and number: sort -k1,2 -k3,3n FILE | awk -f e2e/ratios.awk
{ key = $1 " " $2; n[key]++; value[key, n[key]] = $3; tests[$2] }
function median(key) { return value[key, int((n[key] + 1) / 2)] }
END {
	printf "%-8s %14s %14s %8s\n", "", "redis req/s", "quoll req/s", "ratio"
	for (test in tests) {
		redis = median("redis " test)
		quoll = median("quoll " test)
		printf "%-8s %14.0f %14.0f %8.2f\n", test, redis, quoll, quoll / redis
	}
}
