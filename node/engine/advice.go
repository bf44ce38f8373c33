package engine

// Advice is what can be done about a node whose files are damaged or missing, as the end of a sentence. A node that comes back with
// less than it had has forgotten what it promised the others: neither an older copy of its files nor a restore of this node
// alone may vote.
const Advice = "if you have the files as they were when this node ended, put them back; no older copy. Else leave this node stopped: the " +
	"others serve what a majority of them holds; and to have all replicas again make a new cluster of their data: quoll node backup on each " +
	"of them, then quoll node restore into a new directory for every node"
