// Package compose runs deploy/compose.yaml as it is shipped, for black-box tests: three nodes and two proxies
// in containers of their own, which it breaks as a data centre does.
//
//	c := compose.Up(t, compose.Config{})
//	client := redis.NewClient(&redis.Options{Addr: c.Proxies[0].Client()})
//	c.Isolate(c.Nodes[0])
//	status, err := c.Nodes[0].Status() // what does the one that is cut off think?
//	c.Heal()
//	c.AwaitHealthy()
//
// Every container is in two networks. In data the processes talk to each other, and faults are made there, by
// iptables and tc in the container's network namespace. By control this machine reaches clients' ports and the
// admin API, whatever has become of data. Neither needs a port of this machine.
//
// The image is built with the tag faults from the tree, by its Dockerfile: links can be slow and
// clocks wrong besides.
//
// All that is made in Docker bears the number of the process that made it. It is removed when the test
// ends, when the process is interrupted (Main), or, should it be killed, when the next one comes up; nothing else is touched.
// Logs stay in Cluster.Artefacts.
//
// It needs Docker, docker-compose (1.29 or v2), root, and nsenter, iptables, ip and tc: Check says what is missing. No image is pulled.
package compose
