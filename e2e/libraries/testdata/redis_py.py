"""redis-py, which obeys lines. Usage: redis_py.py PORT."""
import sys

import redis

r = redis.Redis(port=int(sys.argv[1]), decode_responses=True)


def together(transaction, keys):
    pipe = r.pipeline(transaction=transaction)
    for key in keys:
        pipe.incr(key)
    return len(pipe.execute())


verbs = {
    "set": lambda key, value: r.set(key, value),
    "get": lambda key: r.get(key),
    "incr": lambda key: r.incr(key),
    "pipe": lambda *keys: together(False, keys),
    "tx": lambda *keys: together(True, keys),
    "scan": lambda pattern: len(set(r.scan_iter(match=pattern, count=100))),
}
print("redis-py", redis.__version__, flush=True)
for line in sys.stdin:
    verb, *args = line.split()
    try:
        print("ok", verbs[verb](*args), flush=True)
    except redis.RedisError as e:
        print("error", type(e).__name__, str(e).replace("\n", " "), flush=True)
