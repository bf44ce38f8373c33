<?php
// phpredis, which obeys lines. Usage: phpredis.php PORT.
$r = new Redis();
$r->connect('127.0.0.1', (int)$argv[1]);
// When a connection is lost in a pipeline it connects anew and waits for replies that nobody sends.
$r->setOption(Redis::OPT_READ_TIMEOUT, 2);

// checked returns a reply, or throws what the server said: phpredis returns false for most errors.
function checked($reply)
{
    global $r;
    $error = $r->getLastError();
    $r->clearLastError();
    if ($error !== null) {
        throw new RedisException($error);
    }
    return $reply;
}

function together($mode, $keys)
{
    global $r;
    $pipe = $r->multi($mode);
    if ($pipe === false) { // refused: phpredis thinks that there is no transaction, and its discard() sends nothing
        $error = $r->getLastError();
        $r->rawCommand('DISCARD');
        $r->clearLastError();
        throw new RedisException($error);
    }
    foreach ($keys as $key) {
        $pipe->incr($key);
    }
    $replies = checked($pipe->exec());
    if (!is_array($replies)) {
        throw new RedisException('EXEC answered nothing');
    }
    return count($replies);
}

function scan($pattern)
{
    global $r;
    $seen = [];
    $cursor = null;
    do {
        foreach (checked($r->scan($cursor, $pattern, 100)) ?: [] as $key) {
            $seen[$key] = true;
        }
    } while ($cursor != 0);
    return count($seen);
}

echo 'phpredis ', phpversion('redis'), "\n";
while (($line = fgets(STDIN)) !== false) {
    $args = explode(' ', trim($line));
    $verb = array_shift($args);
    try {
        switch ($verb) {
            case 'set': $result = checked($r->set($args[0], $args[1])); break;
            case 'get': $result = checked($r->get($args[0])); break;
            case 'incr': $result = checked($r->incr($args[0])); break;
            case 'pipe': $result = together(Redis::PIPELINE, $args); break;
            case 'tx': $result = together(Redis::MULTI, $args); break;
            case 'scan': $result = scan($args[0]); break;
        }
        echo 'ok ', $result, "\n";
    } catch (RedisException $e) {
        echo 'error ', str_replace("\n", ' ', $e->getMessage()), "\n";
        if ($r->getMode() !== Redis::ATOMIC) {
            $r->discard();
            $r->clearLastError();
        }
    }
}
