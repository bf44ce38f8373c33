// node-redis, which obeys lines. Usage: node_redis.js PORT.
const redis = require('redis');
const readline = require('readline');

const client = redis.createClient({ socket: { host: '127.0.0.1', port: Number(process.argv[2]) } });
client.on('error', () => {});

const verbs = {
  set: (key, value) => client.set(key, value),
  get: (key) => client.get(key),
  incr: (key) => client.incr(key),
  // What is sent in one turn of the event loop is one pipeline.
  pipe: async (...keys) => {
    const replies = await Promise.allSettled(keys.map((key) => client.incr(key)));
    const failed = replies.find((r) => r.status === 'rejected');
    if (failed) throw failed.reason;
    return replies.length;
  },
  tx: async (...keys) => {
    const multi = client.multi();
    keys.forEach((key) => multi.incr(key));
    return (await multi.exec()).length;
  },
  scan: async (pattern) => {
    const seen = new Set();
    for await (const key of client.scanIterator({ MATCH: pattern, COUNT: 100 })) seen.add(key);
    return seen.size;
  },
};

(async () => {
  await client.connect();
  console.log('node-redis', require('redis/package.json').version);
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const [verb, ...args] = line.split(' ');
    try {
      console.log('ok', String(await verbs[verb](...args)));
    } catch (e) {
      console.log('error', String(e.message || e).replace(/\n/g, ' '));
    }
  }
  process.exit(0);
})();
