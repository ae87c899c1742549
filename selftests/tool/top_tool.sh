#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Covers: tools/mrpc/top
# mrpc top: the live screen.
# timeout 180
. "${0%/*}/../harness/lib.sh"

test_usage()
{
	refused 2 "'frob' is not an option of top: it must be connections, services, methods, --every" top frob
	refused 2 'top needs a terminal' top
	refused 2 "top needs '--batch N'" -j top
	refused 2 "must be at least 1" top --batch 0
	refused 2 "'x' is not the number" top -b x
	refused 2 'the time after' top --every
	refused 2 'at least 1ms' top --every 1us
	refused 2 "'size' is not an order: it must be calls, errors, bytes, active" top --sort size
	mrpc top help | has '^Usage: mrpc top'
	mrpc top --batch 1 --every 100ms | has '0 sessions, 0 datapaths, 0 engines$'
	mrpc -j top --batch 1 --every 100ms | json "j['connections'] == [] and j['sums']['sessions'] == 0"
	mrpc top methods --batch 1 --every 100ms | has 'No calls were measured'
}

test_figures()
{
	local pids
	on_exit forget_engines
	serve 2
	mrpc engine add metrics per_connection on >/dev/null
	mrpc engine add null >/dev/null
	mrpc -j top connections --every 3s -b 1 >"$TEST_TMP/conns" &
	pids=($!)
	mrpc -j top services --every 3s -b 1 >"$TEST_TMP/services" &
	pids+=($!)
	mrpc -j top methods --every 3s -b 1 >"$TEST_TMP/methods"
	wait "${pids[@]}"
	# All calls are seen at both ends, and as services and methods.
	json "len(j['connections']) == 4 and all(c['calls_s'] > 1 and c['bytes_s'] > 20 * c['calls_s'] and
		c['errors_s'] == 0 and 0 < c['p50_ns'] <= c['p99_ns'] and c['service'] == 'kv.Store' and
		c['active'] <= 4 for c in j['connections'])" <"$TEST_TMP/conns"
	json "j['sums']['sessions'] == 3 and j['sums']['datapaths'] == 4 and j['sums']['engines'] == 2 and
		abs(j['sums']['client']['calls_s'] - sum(c['calls_s'] for c in j['connections']
			if c['role'] == 'client')) < 1e-6" <"$TEST_TMP/conns"
	json "{(s['service'], s['role'], s['conns']) for s in j['services']} ==
		{('kv.Store', 'client', 2), ('kv.Store', 'server', 2)} and
		all(s['p99_ns'] > 0 for s in j['services'])" <"$TEST_TMP/services"
	json "{(m['method'], m['role']) for m in j['methods']} == {('Put', 'client'), ('Put', 'server')} and
		all(m['calls_s'] > 1 and m['p99_ns'] > 0 for m in j['methods'])" <"$TEST_TMP/methods"
	# Errors.
	mrpc engine add fault abort_percent 100% >/dev/null
	mrpc -j top --sort errors --every 1s -b 1 | json "j['sums']['client']['errors_s'] > 1"
	mrpc engine del fault >/dev/null
	# A queue that is held: what is in it, and how old it gets.
	mrpc queue pause null dir tx >/dev/null
	# They wait where they leave their client, or as replies where they leave the server.
	held()
	{
		mrpc -j top --every 500ms -b 1 | json "max(j['sums'][s]['oldest_ns'] for s in ('client', 'server')) > 10**9 and
			sum(j['sums'][s]['queued'] for s in ('client', 'server')) == 8 and
			j['sums']['client']['calls_s'] == 0 and j['sums']['client']['active'] == 8"
	}
	wait_for 10 held
	mrpc top --every 500ms -b 2 --sort oldest | tee "$TEST_TMP/out"
	[[ $(grep -c '^connections by oldest$' "$TEST_TMP/out") == 2 ]]
	mrpc top -b 1 --every 100ms | tee "$TEST_TMP/out"
	grep -q '^out: 0 calls/s, .* 8 in flight, ' "$TEST_TMP/out"
	grep -q ' queued, oldest [0-9.]*s$' "$TEST_TMP/out"
	mrpc queue resume null >/dev/null
	mrpc engine add crash name c overrun 20000 >/dev/null
	wait_for 20 eval 'mrpc top -b 1 --every 100ms | has "engines, bypassed on [1-4] datapaths$"'
	mrpc engine del c >/dev/null
	# Sorted, and in columns.
	mrpc -j top --every 1s -b 1 --sort bytes | json "[c['bytes_s'] for c in j['connections']] ==
		sorted([c['bytes_s'] for c in j['connections']], reverse=True)"
	# A connection that ends does not count backwards.
	kill "${clients[0]}"
	mrpc -j top services --every 1s -b 3 | tail -1 | json "all(s['calls_s'] >= 0 for s in j['services'])"
}

# A terminal, and mrpc top on it.
terminal()
{
	cat >"$TEST_TMP/terminal.py" <<-'END'
	import fcntl, os, pty, re, select, signal, struct, sys, termios, time
	class Terminal:
	    def __init__(self, *args, size=(24, 100)):
	        self.master, self.slave = pty.openpty()
	        self.resize(*size)
	        self.before = termios.tcgetattr(self.slave)
	        told, tell = os.pipe()
	        self.shell = os.fork()
	        if not self.shell:
	            self.run(args, tell)
	        self.pid = int(os.read(told, 20))
	        self.text = ''
	    # As a shell does: a process group of its own, in the foreground. One without
	    # somebody outside it in its session could not be stopped.
	    def run(self, args, tell):
	        os.setsid()
	        fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)
	        for fd in 0, 1, 2:
	            os.dup2(self.slave, fd)
	        pid = os.fork()
	        if not pid:
	            os.setpgid(0, 0)
	            signal.signal(signal.SIGTTOU, signal.SIG_IGN)
	            os.tcsetpgrp(0, os.getpid())
	            signal.signal(signal.SIGTTOU, signal.SIG_DFL)
	            os.execvp('mrpc', ['mrpc', 'top', *args])
	        os.write(tell, str(pid).encode())
	        signal.signal(signal.SIGHUP, signal.SIG_IGN)
	        os._exit(os.WEXITSTATUS(os.waitpid(pid, 0)[1]))
	    def state(self):
	        return open(f'/proc/{self.pid}/stat').read().rsplit(')')[1].split()[0]
	    def resize(self, rows, columns):
	        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
	    def read(self, seconds=0.1):
	        end = time.monotonic() + seconds
	        while (left := end - time.monotonic()) > 0:
	            if select.select([self.master], [], [], left)[0]:
	                self.text += os.read(self.master, 65536).decode()
	    def until(self, pattern, seconds=60):
	        end = time.monotonic() + seconds
	        while not re.search(pattern, self.text):
	            assert time.monotonic() < end, (pattern, self.text[-2000:])
	            self.read()
	    def forget(self):
	        self.read()
	        self.text = ''
	    def key(self, key):
	        self.forget()
	        os.write(self.master, key.encode())
	    def signal(self, number):
	        os.kill(self.pid, number)
	    # What is on the screen: the last picture.
	    def screen(self):
	        picture = self.text.split('\033[H')[-1]
	        return [l.replace('\033[K', '').rstrip('\r') for l in picture.split('\n')]
	    def raw(self):
	        return not termios.tcgetattr(self.slave)[3] & (termios.ICANON | termios.ECHO)
	    def shown(self):       # the cursor, and wrapping
	        return self.text.rfind('\033[?25h') > self.text.rfind('\033[?25l') and \
	               self.text.rfind('\033[?7h') > self.text.rfind('\033[?7l')
	    def end(self, status):
	        for i in range(600):
	            self.read()
	            pid, got = os.waitpid(self.shell, os.WNOHANG)
	            if pid:
	                break
	        else:
	            assert False, 'it does not end'
	        self.read()
	        assert got == status << 8, got
	        assert termios.tcgetattr(self.slave) == self.before, 'the modes are others'
	        assert self.shown(), self.text[-200:]
	END
	export PYTHONPATH=$TEST_TMP PYTHONDONTWRITEBYTECODE=1
}

test_screen()
{
	on_exit forget_engines
	serve 3
	mrpc engine add metrics >/dev/null
	terminal
	python3 - <<-'END'
	from terminal import *
	t = Terminal('--every', '300ms')
	t.until(r'connections by calls')
	t.until(r'SESSION .*ROLE')
	assert t.raw() and not t.shown()
	t.forget()
	t.until(r'3 sessions|4 sessions')              # it comes again
	for key, pattern in (('v', 'services by calls'), ('m', 'methods by calls'), ('s', 'methods by errors'),
	                     ('c', 'connections by errors'), ('s', 'connections by bytes')):
	    t.key(key)
	    t.until(pattern)
	t.key('xyz\x1b[A')                              # which mean nothing
	t.until('connections by bytes')
	# What has no room is cut.
	for rows, columns in (8, 40), (5, 20), (2, 10), (50, 200):
	    t.resize(rows, columns)
	    for attempt in range(20):                  # one may be on its way in the old size
	        t.forget()
	        t.until(r'\033\[H[^\033](?s:.*)\033\[J')
	        lines = t.text[t.text.find('\033[H'):].split('\033[J')[0].split('\n')
	        lines = [re.sub(r'\033\[[0-9?]*[A-Za-z]', '', l).rstrip('\r') for l in lines]
	        if len(lines) <= rows and all(len(l) <= columns for l in lines):
	            break
	    else:
	        assert False, (rows, columns, lines)
	t.key('q')
	t.end(0)
	END
}

test_signals()
{
	ip link set lo up
	terminal
	python3 - <<-'END'
	from terminal import *
	for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT:
	    t = Terminal('--every', '200ms')
	    t.until('calls/s')
	    t.signal(number)
	    t.end(0)
	# As Ctrl-C.
	t = Terminal()
	t.until('calls/s')
	t.key('\x03')
	t.end(0)
	# Stopped and continued: a shell's terminal in between.
	t = Terminal('--every', '200ms')
	t.until('calls/s')
	t.signal(signal.SIGTSTP)
	while t.state() != 'T':
	    t.read()
	t.read()
	assert not t.raw() and t.shown() and termios.tcgetattr(t.slave) == t.before
	t.forget()
	t.signal(signal.SIGCONT)
	t.until('calls/s')
	assert t.raw() and not t.shown()
	t.key('q')
	t.end(0)
	# Also while output is held.
	t = Terminal('--every', '1ms')
	t.until('calls/s')
	time.sleep(3)                                  # nobody reads
	t.signal(signal.SIGTERM)
	while os.path.exists(f'/proc/{t.pid}'):
	    time.sleep(0.1)
	assert termios.tcgetattr(t.slave) == t.before
	END
	# The module goes: an error below the picture.
	TEST_TMP=$TEST_TMP python3 - <<-'END' &
	from terminal import *
	t = Terminal('--every', '200ms')
	t.until('calls/s')
	open(os.environ['TEST_TMP'] + '/shown', 'w')
	t.until(r'mrpc: the kernel does not know mrpc', 60)
	t.end(1)
	END
	wait_for 20 test -e "$TEST_TMP/shown"
	mrpc_unload
	wait $!
	mrpc_load
}

test_script()
{
	# Without a size of its own, and where the input ends.
	script -qfec "mrpc top --every 100ms" "$TEST_TMP/typescript" </dev/null >/dev/null &
	wait_for 20 grep -q 'connections by calls' "$TEST_TMP/typescript"
	kill $! 2>/dev/null || :
	wait $! || :
	if mrpc top -b 5 --every 10ms >/dev/full 2>/dev/null; then
		fail "a full disk was not noticed"
	fi
}

run_tests "$@"
