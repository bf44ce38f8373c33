"""A chat over redis-py. Usage: redis_py_chat.py PORT PORT... It goes on until its input ends, and prints what was said, or what was wrong.

What is said in a room goes to its history, a stream that is capped, and is then published. Who is in a room hears that something was said, and reads the history from where it was: so nothing is missed
when a connection is lost, though messages are. The last lines are kept in a list, too, and who is there in a hash."""
import sys
import threading
import time

import redis

PORTS = [int(port) for port in sys.argv[1:]]
ROOMS, CAP, LINES = ["{kitchen}", "{garden}"], 100_000, 50
over, closing = threading.Event(), threading.Event()
guard = threading.Lock()
wrong, said, heard, live = [], {room: set() for room in ROOMS}, {}, [0]


def client(i):
    return redis.Redis(port=PORTS[i % len(PORTS)], decode_responses=True)


def author(i):
    r, name, n = client(i), "author-%d" % i, 0
    while not over.is_set() or n < 50:
        room = ROOMS[n % len(ROOMS)]
        text = "%s:%d" % (name, n)
        n += 1
        try:
            entry = r.xadd(room + ":history", {"who": name, "text": text}, maxlen=CAP, approximate=True)
        except redis.RedisError:
            continue  # it may be there: whoever hears it twice is not told so
        with guard:
            said[room].add((entry, text))
        try:
            r.publish(room, entry)
            r.pipeline().lpush(room + ":lines", text).ltrim(room + ":lines", 0, LINES - 1).hset(room + ":here", name, n).execute()
            if r.llen(room + ":lines") > LINES:
                wrong.append("a list of lines is too long")
        except redis.RedisError:
            pass


def member(i):
    """Whoever is in a room, over a proxy, from the beginning on."""
    room, r = ROOMS[i % len(ROOMS)], client(i // len(ROOMS))
    last, seen = "0-0", []
    heard[i] = (room, seen)
    channel = None
    while True:
        ended = closing.is_set()  # before the last look
        try:
            if channel is None:
                channel = r.pubsub()
                channel.subscribe(room)
            message = channel.get_message(timeout=0.2)
            if message and message["type"] == "message":
                with guard:
                    live[0] += 1
                if redis_id(message["data"]) <= redis_id(last):
                    continue  # it is known
            for entry, fields in r.xrange(room + ":history", "(" + last):
                if redis_id(entry) <= redis_id(last):
                    wrong.append("%s came after %s" % (entry, last))
                last = entry
                seen.append((entry, fields["text"]))
        except redis.RedisError:
            if channel is not None:
                channel.close()
                channel = None
            continue
        if ended:
            channel.close()
            return


def redis_id(text):
    return tuple(map(int, text.split("-")))


authors = [threading.Thread(target=author, args=[i]) for i in range(4)]
members = [threading.Thread(target=member, args=[i]) for i in range(4)]
for thread in authors + members:
    thread.start()
print("running", flush=True)
sys.stdin.read()
over.set()
for thread in authors:
    thread.join()
closing.set()
for thread in members:
    thread.join()
for room in ROOMS:
    seen = [entries for where, entries in heard.values() if where == room]
    if any(entries != seen[0] for entries in seen):
        wrong.append("members of %s have heard different things" % room)
    if not said[room] <= set(seen[0]):
        wrong.append("%d lines of %s were not heard" % (len(said[room] - set(seen[0])), room))
here = client(0).hgetall(ROOMS[0] + ":here")
if not here:
    wrong.append("nobody is in %s" % ROOMS[0])
print({room: len(lines) for room, lines in said.items()}, "live:", live[0], "wrong:", wrong)
sys.exit(1 if wrong or not all(said.values()) or not live[0] else 0)
