"""What redis-py does with a Quoll proxy. Usage: redis_py.py PORT. Prints ok."""
import sys
import threading

import redis

r = redis.Redis(host="127.0.0.1", port=int(sys.argv[1]), decode_responses=True)
assert r.ping()
assert r.set("py:k", "välue") and r.get("py:k") == "välue"
assert r.set("py:k", "other", nx=True) is None
assert r.set("py:k", "other", get=True) == "välue"
assert r.set("py:t", "1", ex=100) and 0 < r.ttl("py:t") <= 100
assert r.pexpire("py:t", 5000) and 0 < r.pttl("py:t") <= 5000 and r.persist("py:t") and r.ttl("py:t") == -1
assert r.get("py:none") is None and r.ttl("py:none") == -2
assert r.incr("py:n") == 1 and r.incrby("py:n", 41) == 42 and r.decr("py:n") == 41 and r.incrbyfloat("py:n", 0.5) == 41.5
assert r.append("py:k", "!") == 6 and r.strlen("py:k") == 6 and r.getrange("py:k", 0, 1) == "ot"
assert r.mset({"py:a": 1, "py:b": 2}) and r.mget("py:a", "py:b", "py:none") == ["1", "2", None]
assert r.setbit("py:bits", 7, 1) == 0 and r.getbit("py:bits", 7) == 1 and r.bitcount("py:bits") == 1
assert r.exists("py:a", "py:b", "py:none") == 2 and r.type("py:a") == "string"
assert r.getdel("py:a") == "1" and r.delete("py:b", "py:none") == 1
assert r.info()["redis_mode"] == "standalone" and r.client_id() > 0 and len(r.time()) == 2

pipe = r.pipeline(transaction=False)
for i in range(500):
    pipe.set(f"py:p:{i}", i)
    pipe.get(f"py:p:{i}")
assert pipe.execute() == [x for i in range(500) for x in (True, str(i))]
assert sorted(r.scan_iter(match="py:p:*", count=50)) == sorted(f"py:p:{i}" for i in range(500))
assert len(r.keys("py:p:*")) == 500 and r.dbsize() >= 500

for wrong, text in ((("incr", "py:k"), "value is not an integer"), (("get",), "wrong number of arguments"),
                    (("nonsense", "x"), "unknown command"), (("swapdb", "0", "1"), "not supported yet")):
    try:
        r.execute_command(*wrong)
    except redis.ResponseError as e:
        assert text in str(e), e
    else:
        raise AssertionError(wrong)
pipe = r.pipeline(transaction=False)
pipe.set("py:e", "text").incr("py:e").get("py:e")
replies = pipe.execute(raise_on_error=False)
assert replies[0] is True and isinstance(replies[1], redis.ResponseError) and replies[2] == "text", replies
assert r.pipeline().set("{py}m", 1).incr("{py}m").execute() == [True, 2]
try:
    r.pipeline().set("{py}m", 5).set("of another slot", 5).execute()
except redis.RedisError as e:
    assert "hash to the same slot" in str(e), e
else:
    raise AssertionError("MULTI")
assert r.get("{py}m") == "2"
assert r.get("py:k") == "other!"

binary = redis.Redis(host="127.0.0.1", port=int(sys.argv[1]))
value = bytes(range(256)) * 8192
assert binary.set(b"py:\x00\xff", value) and binary.get(b"py:\x00\xff") == value


def count():
    for _ in range(200):
        r.incr("py:threads")


threads = [threading.Thread(target=count) for _ in range(5)]
for t in threads:
    t.start()
for t in threads:
    t.join()
assert r.get("py:threads") == "1000"
print("ok")
