// Package broker hands messages of publishers, and what homes tell of keys, to the proxies whose clients subscribe to them.
//
// Every proxy tells every node to what its clients subscribe, as long as it is connected (Broker.Interest, Broker.Drop). So any node can publish: it finds
// who is interested in a Table, sends the message to these, and tells the publisher how many clients there are. Nothing is kept: a message is delivered at most once.
package broker
