"""What programs do with redis-py: locks, sessions, pipelines and transactions. Usage: redis_py_programs.py PORT. It goes on until its input ends, and prints
what it has done, or what was wrong."""
import random
import sys
import threading
import time

import redis

PORT = int(sys.argv[1])
over = threading.Event()
guard = threading.Lock()
wrong, done, inside = [], {"locked": 0, "counted": 0, "uncertain": 0, "pairs": 0, "sessions": 0}, [0]


def locks():
    r = redis.Redis(port=PORT)
    while not over.is_set():
        lock = r.lock("lock", timeout=2, sleep=0.005)
        try:
            if not lock.acquire(blocking_timeout=5):
                continue
        except redis.RedisError:
            continue  # it may be held: then it is free again after its time
        with guard:
            inside[0] += 1
            if inside[0] != 1:
                wrong.append("%d threads hold the lock" % inside[0])
        time.sleep(0.001)
        with guard:
            inside[0] -= 1
            done["locked"] += 1
        try:
            lock.release()
        except redis.RedisError:
            pass


def counter():
    r = redis.Redis(port=PORT)

    def add(pipe):
        value = int(pipe.get("counter") or 0)
        pipe.multi()
        pipe.set("counter", value + 1)

    while not over.is_set():
        try:
            r.transaction(add, "counter")
            which = "counted"
        except redis.RedisError:
            which = "uncertain"
        with guard:
            done[which] += 1


def pairs():
    r = redis.Redis(port=PORT)
    while not over.is_set():
        try:
            r.pipeline().incr("{pair}a").incr("{pair}b").execute()
            a, b = r.mget("{pair}a", "{pair}b")
        except redis.RedisError:
            continue
        if a != b:
            wrong.append("half of a transaction was read: %s, %s" % (a, b))
        with guard:
            done["pairs"] += 1


def sessions():
    r = redis.Redis(port=PORT, decode_responses=True)
    while not over.is_set():
        key = "session:{%d}" % random.randrange(50)
        token = str(random.random())
        try:
            r.pipeline().hset(key, mapping={"token": token, "again": token}).expire(key, 100).sadd(key + ":seen", token).execute()
            session, ttl = r.pipeline().hgetall(key).ttl(key).execute()
        except redis.RedisError:
            continue
        if session["token"] != session["again"] or not 0 < ttl <= 100:
            wrong.append("a session is %s, for %s seconds" % (session, ttl))
        with guard:
            done["sessions"] += 1


threads = [threading.Thread(target=what) for what in [locks] * 4 + [counter] * 3 + [pairs] * 3 + [sessions] * 3]
for thread in threads:
    thread.start()
print("running", flush=True)
sys.stdin.read()
late = time.monotonic() + 30
while time.monotonic() < late and not all(n for what, n in done.items() if what != "uncertain"):
    time.sleep(0.01)
over.set()
for thread in threads:
    thread.join()
value = int(redis.Redis(port=PORT).get("counter"))
if not done["counted"] <= value <= done["counted"] + done["uncertain"]:
    wrong.append("the counter is %d" % value)
print(done, "wrong:", wrong)
sys.exit(1 if wrong or min(n for what, n in done.items() if what != "uncertain") == 0 else 0)
