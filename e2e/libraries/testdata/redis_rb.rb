# redis-rb, which obeys lines. Usage: redis_rb.rb PORT [careful].
require 'redis'

$stdout.sync = true
options = { port: ARGV[0].to_i }
options[:reconnect_attempts] = 0 if ARGV[1] == 'careful'
r = Redis.new(**options)
puts "redis-rb #{Redis::VERSION}"
$stdin.each_line do |line|
  verb, *args = line.split
  begin
    result = case verb
             when 'set' then r.set(*args)
             when 'get' then r.get(*args)
             when 'incr' then r.incr(*args)
             when 'pipe' then r.pipelined { |p| args.each { |key| p.incr(key) } }.size
             when 'tx' then r.multi { |m| args.each { |key| m.incr(key) } }.size
             when 'scan' then r.scan_each(match: args[0], count: 100).to_a.uniq.size
             end
    puts "ok #{result}"
  rescue Redis::BaseError => e
    puts "error #{e.class} #{e.message.tr("\n", ' ')}"
  end
end
