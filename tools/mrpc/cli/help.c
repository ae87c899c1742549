// SPDX-License-Identifier: GPL-2.0
/* What 'help' says, on every level. */
#include <stdio.h>
#include <string.h>

#include "cli/help.h"
#include "cli/words.h"

static const char general[] =
	"Usage: mrpc [OPTIONS] OBJECT [COMMAND [ARGUMENTS]]\n"
	"       mrpc [OPTIONS] top | metrics | monitor | dump | version | help [OBJECT]\n"
	"\n"
	"Shows what the kernel's RPC service does in this network namespace, and places\n"
	"engines in its datapaths.\n"
	"\n"
	"Objects:\n"
	"  session   applications that have /dev/mrpc open\n"
	"  qp        their queue pairs\n"
	"  conn      their connections\n"
	"  service   services that they serve or call, and where\n"
	"  schema    compiled schemas; checking and loading schema files\n"
	"  datapath  queues of each connection, and the state of its directions\n"
	"  group     ranks of groups, which do collective operations, and what they do\n"
	"  engine    stages that calls pass: adding, changing, removing them\n"
	"  policy    engine types in eBPF: loading, replacing, unloading them\n"
	"  queue     queues in datapaths: what is in them, pausing them\n"
	"  runtime   kernel threads that run datapaths\n"
	"  egress    which datapath sends next where many leave by one device\n"
	"  transport what carries connections, and what it counts\n"
	"  set       sets of keys, which rules of engines refer to\n"
	"  config    the engines and egress domains in a file, and back\n"
	"  plan      changes of several hosts, step by step, and back\n"
	"Commands of most objects: show (also: list; the default), dump; of all: help\n"
	"Further commands:\n"
	"  top       what happens, as a live screen\n"
	"  metrics   everything that is counted, as Prometheus reads it; a service for that\n"
	"  monitor   prints events as they happen\n"
	"  dump      everything about all objects\n"
	"  version   of this command\n"
	"\n"
	"Options:\n"
	"  -j, --json        print JSON, with every value that the kernel gives\n"
	"  -p, --pretty      indent the JSON\n"
	"  -s, --stats       show more columns\n"
	"  -t, --ts          begin each event with its time\n"
	"  -o, --oneline     print what 'dump' and a single object have in one line for each\n"
	"  -b, --batch FILE  run the commands of a file ('-': standard input), one in a line\n"
	"  -f, --force       with -b: go on behind one that fails\n"
	"  -n, --netns NAME  in this network namespace (a name of 'ip netns', or a path)\n"
	"  -V, --version     print the version\n"
	"  -h, --help        print this\n"
	"\n"
	"-j, -p, -s, -t and -o may also stand behind the object; '--' ends options.\n"
	"Words may be shortened as long as they are clear. 'mrpc OBJECT help' says more.\n";

static const struct {
	const char *object;
	const char *text;
} helps[] = {
	{ "session",
	  "Usage: mrpc session { show | list | dump } [id NUMBER]\n"
	  "\n"
	  "Applications that have /dev/mrpc open: their heaps and how much they have of what.\n"
	  "PENDING counts requests that wait for room in a completion queue.\n" },
	{ "qp",
	  "Usage: mrpc qp { show | list | dump } [session NUMBER [id NUMBER]]\n"
	  "\n"
	  "Queue pairs: SQ-USED are submissions that the kernel has not taken, CQ-USED are\n"
	  "completions that the application has not taken, CQ-RESERVED is room that calls in\n"
	  "flight have been promised, SERVING counts requests that are not answered.\n" },
	{ "conn",
	  "Usage: mrpc conn { show | list | dump } [session NUMBER [id NUMBER]]\n"
	  "                 [peer ADDRESS[/BITS]] [state STATE] [service NAME]\n"
	  "       mrpc conn del session NUMBER id NUMBER\n"
	  "       mrpc conn drain session NUMBER id NUMBER [timeout TIME]\n"
	  "\n"
	  "  STATE  connecting | ready | draining | closed\n"
	  "\n"
	  "Connections, at the client's and at the server's end. With -s: frames, bytes,\n"
	  "refused messages, and stalls for want of receive heap.\n"
	  "\n"
	  "del    end one; its calls in flight fail with UNAVAILABLE\n"
	  "drain  let no new calls onto it, and end it when those in flight have finished, at\n"
	  "       the latest after TIME (5s)\n" },
	{ "service",
	  "Usage: mrpc service { show | list | dump } [session NUMBER]\n"
	  "\n"
	  "Services: a line for each that a listener serves (role server) and for each that\n"
	  "a connection may call (role client). ID is that of the listener or connection.\n" },
	{ "schema",
	  "Usage: mrpc schema { show | list | dump } [id NUMBER | hash SHA256]\n"
	  "       mrpc schema check FILE\n"
	  "       mrpc schema load FILE...\n"
	  "\n"
	  "show   schemas that the kernel has compiled; of a single one the methods, too\n"
	  "dump   everything about them\n"
	  "check  verify a binary schema ('mrpcc --schema-out' writes them) as the kernel\n"
	  "       would, and show what is in it; with -s the fields, too. '-': standard input\n"
	  "load   have the kernel compile schemas before an application needs them\n" },
	{ "datapath",
	  "Usage: mrpc datapath { show | list | dump } [session NUMBER [conn NUMBER]]\n"
	  "\n"
	  "Datapaths, one for each connection: TX-QUEUE are messages that wait for the link,\n"
	  "BACKLOG bytes that the peer has not acknowledged, RX-PARTIAL bytes that are missing\n"
	  "of a message, ZOMBIES ended calls without the peer's reply yet, TIMER the time until\n"
	  "it looks at deadlines and keepalive. TX and RX say what a direction is doing:\n"
	  "running, missed (new work), disabled, ready, stalled (no receive heap), blocked (the\n"
	  "transmit queue is too long). ENGINES are in order from the application to the wire;\n"
	  "dump has what each has queued and done.\n" },
	{ "group",
	  "Usage: mrpc group { show | list | dump } [GROUP | session NUMBER [id NUMBER]]\n"
	  "       mrpc group links GROUP\n"
	  "       mrpc [-j] group trace [GROUP]...\n"
	  "       mrpc [-j] group set GROUP [order RANK,RANK... | order default | topology FILE]\n"
	  "           [algorithm COLLECTIVE NAME]... [timeout TIME]\n"
	  "\n"
	  "  GROUP  SESSION:NUMBER, as 4:1: the group's number is within the session\n"
	  "\n"
	  "Groups do collective operations. A line is one rank, that of a session of this\n"
	  "namespace. CONNS are other ranks that it has a connection to, WAITING operations that\n"
	  "have not begun. NOW is the operation that runs, or why the group has ended.\n"
	  "\n"
	  "show   the ranks\n"
	  "dump   everything about them, also how much was done of each collective\n"
	  "links  the connection to each other rank, with the chunks of the operation that runs;\n"
	  "       EARLY: one has come before its turn, and the connection is not read until then;\n"
	  "       LEFT: that rank has left, and the next operation that needs it fails\n"
	  "trace  the last 64 operations of a rank, or of all. FIRST-SENT, LAST-RECEIVED and\n"
	  "       DURATION are counted from BEGAN. With -j: as Chrome's about:tracing and\n"
	  "       Perfetto load it; pid is the session, tid the rank\n"
	  "set    changes how the group does its collectives, at all ranks from the same\n"
	  "       operation on, and returns when that is so. An order is that of a ring or tree.\n"
	  "       A topology makes rings that enter each pod, rack and host once: lines of FILE\n"
	  "       are ADDRESS[/PREFIX] POD RACK HOST. Algorithms are ring, recursive, binomial,\n"
	  "       direct, and chosen: that of the application, or else of the kernel. After the\n"
	  "       timeout (10s) the change goes on without the command\n" },
	{ "engine",
	  "Usage: mrpc engine { show | list | dump } [NAME]\n"
	  "       mrpc engine type [show [TYPE[@VERSION]]]\n"
	  "       mrpc engine add TYPE[@VERSION] [name NAME] [scope SCOPE]\n"
	  "                       [before NAME | after NAME] [PARAMETER VALUE]... [GRADUAL]\n"
	  "       mrpc engine set NAME PARAMETER VALUE... [GRADUAL]\n"
	  "       mrpc engine replace NAME TYPE[@VERSION] [PARAMETER VALUE]... [GRADUAL]\n"
	  "       mrpc engine del NAME [GRADUAL]\n"
	  "       mrpc engine step NAME PERCENT\n"
	  "\n"
	  "  SCOPE    all that are given must match: service NAME | session NUMBER | pid NUMBER\n"
	  "           | uid USER | cgroup PATH | datapath NUMBER | side client|server\n"
	  "  GRADUAL  --step PERCENT [--every TIME] [--abort-if 'p99 > 2x']\n"
	  "  VALUE    as the parameter's unit is: 10k, 16MiB, 200ms, 5%, on, off, unlimited;\n"
	  "           rules: a file with them, or their text in one word\n"
	  "\n"
	  "show     engines in order from the application to the wire; with a name, everything\n"
	  "         about one\n"
	  "type     what engines there are, and what they can be told; with a name, of one type,\n"
	  "         which is loaded if need be\n"
	  "add      on all datapaths in scope, and on new ones; next to the wire if nothing is\n"
	  "         said of its place\n"
	  "set      change some parameters; the others stay\n"
	  "replace  by another version or type, which takes over what the old one knows\n"
	  "del      remove it; what it has queued goes on\n"
	  "step     take a change in progress to a percentage; 0 takes it back\n"
	  "\n"
	  "With --step a change reaches so many percent of the datapaths at a time, every second\n"
	  "or as --every says, and is taken back when --abort-if becomes true (p50, p99, p99.9\n"
	  "or errors; above a value or so many times what was usual; this needs an engine of the\n"
	  "type metrics), when a step fails, or on Ctrl-C.\n" },
	{ "policy",
	  "Usage: mrpc policy { show | list } [NAME[@VERSION]]\n"
	  "       mrpc policy load FILE [name NAME[@VERSION]] [--debug]\n"
	  "       mrpc policy replace NAME[@VERSION] FILE [fresh] [--debug]\n"
	  "       mrpc policy unload NAME[@VERSION] [force]\n"
	  "       mrpc policy map show NAME[@VERSION] MAP\n"
	  "       mrpc policy map { set NAME[@VERSION] MAP KEY VALUE | del NAME[@VERSION] MAP KEY }\n"
	  "\n"
	  "A policy is an engine type whose functions are BPF programs: 'mrpc engine add NAME'\n"
	  "places it. One of TYPE lb chooses among replicas instead: 'mrpc engine add lb chooser\n"
	  "NAME ...' asks it; one of TYPE sched is an egress discipline: 'mrpc egress set dev DEV\n"
	  "discipline NAME'. Policies are the host's, engines and egress domains a network\n"
	  "namespace's. They stay when the command ends: their links are pinned at\n"
	  "/sys/fs/bpf/mrpc/NAME/link, their maps in /sys/fs/bpf/mrpc/NAME/maps, where bpftool\n"
	  "reads and changes them.\n"
	  "\n"
	  "show     the policies; with a name, all that is known: ids of its programs and maps,\n"
	  "         what it has counted, why its programs were thrown out or not replaced\n"
	  "load     verify and attach the policies in an object file, all or none\n"
	  "replace  give a policy the programs of an object file, between two messages; it keeps\n"
	  "         its maps, those of the same name, and its global variables\n"
	  "unload   detach it; refused while engines or egress domains use it\n"
	  "map      entries of one of its maps: numbers, texts, MEMBER=VALUE,... for a struct, as\n"
	  "         the map's types are, or hex:0a00 for bytes\n"
	  "\n"
	  "name     only this one of the file's\n"
	  "fresh    global variables begin anew\n"
	  "force    its engines stay, and do as their parameter 'fallback' says, or lb's 'policy';\n"
	  "         egress domains go by priority\n"
	  "--debug  print all that the verifier says (also: -d)\n" },
	{ "queue",
	  "Usage: mrpc queue { show | list } [FILTER]...\n"
	  "       mrpc queue watch [FILTER]... [--every TIME]\n"
	  "       mrpc queue { pause | resume } ENGINE [datapath NUMBER] [dir tx|rx]\n"
	  "       mrpc queue dump datapath NUMBER dir tx|rx [engine NAME]\n"
	  "\n"
	  "  FILTER  session NUMBER | datapath NUMBER | engine NAME | dir tx|rx\n"
	  "          | busy (not empty, or paused)\n"
	  "\n"
	  "Each engine has a queue in each direction; '(link)' waits for the network behind\n"
	  "them, '(arriving)' is a message that is being received. KEPT are messages that\n"
	  "the engine has taken out of its queue and not given back.\n"
	  "\n"
	  "show    depth, bytes, and age of the oldest message\n"
	  "watch   the same, repeatedly\n"
	  "pause   hold what comes to an engine, on all its datapaths or on one; no message is\n"
	  "        lost, those whose deadline comes fail\n"
	  "resume  let it go on\n"
	  "dump    what is in a queue\n" },
	{ "runtime",
	  "Usage: mrpc runtime { show | list } [NAME]\n"
	  "       mrpc runtime { add | set } NAME [SETTING]...\n"
	  "       mrpc runtime del NAME\n"
	  "\n"
	  "  SETTING  cpus LIST | nice NUMBER | fifo yes|no | busy TIME\n"
	  "           | order fifo|strict|small | turn BYTES | dedicated yes|no\n"
	  "\n"
	  "A runtime is a kernel thread. Datapaths are on it that an engine of the type\n"
	  "'runtime' places there: 'mrpc engine add runtime on NAME [SCOPE]'; all others run in\n"
	  "the threads that wait for them. Runtimes are the host's.\n"
	  "\n"
	  "cpus       where it may run, for example 0-3,8\n"
	  "nice       as of a process, -20 to 19; fifo: before all of these\n"
	  "busy       how long it spins before it sleeps, at most 10ms\n"
	  "order      which datapath is next: as they came, the highest priority, the shortest message\n"
	  "turn       after so many bytes a datapath lets others go first (256KiB)\n"
	  "dedicated  takes one datapath only\n" },
	{ "egress",
	  "Usage: mrpc egress { show | list } [DOMAIN]\n"
	  "       mrpc egress set DOMAIN [SETTING]...\n"
	  "       mrpc egress { pause | resume | del | dump } DOMAIN\n"
	  "\n"
	  "  DOMAIN   dev NAME | loop\n"
	  "  SETTING  discipline NAME | fair on|off | chunk BYTES | limit BYTES |\n"
	  "           rate BYTES|unlimited\n"
	  "\n"
	  "Datapaths that leave by a device that has an egress domain send one chunk after the\n"
	  "other. 'loop' are the links of the transport loop. Ranks and tenants are what engines\n"
	  "of the type 'qos' say: 'mrpc engine add qos ...'.\n"
	  "\n"
	  "show        the domains\n"
	  "set         make one, or change it while calls pass\n"
	  "pause       send nothing; resume: go on\n"
	  "del         delete it: all send as they like\n"
	  "dump        its datapaths, those that wait in the order of their turns\n"
	  "\n"
	  "discipline  what is next: fifo, as they came; strict, the highest priority; small-first,\n"
	  "            the least that is left; deadline, the earliest deadline; or as a policy\n"
	  "            says, see 'mrpc policy'\n"
	  "fair        first between tenants, by weight\n"
	  "chunk       what is sent in one turn (16KiB)\n"
	  "limit       what may be on its way to the device, or there, at once (2 chunks)\n"
	  "rate        bytes a second at most, of messages: for a link that is slower than the\n"
	  "            device\n" },
	{ "transport",
	  "Usage: mrpc transport { show | list | dump } [NAME]\n"
	  "\n"
	  "The versions of transports that are loaded, and what they know of this network\n"
	  "namespace. REFS are the references to the module, of the whole host.\n"
	  "\n"
	  "show   the transports; with a name also its numbers that are not 0, and with -s all:\n"
	  "       counters, packets that were dropped by the reason, gauges, and settings\n"
	  "dump   everything about them\n"
	  "\n"
	  "FEATURES: its links check 'checksums', can be in domains of 'egress', 'exchange'\n"
	  "their version while calls pass.\n" },
	{ "set",
	  "Usage: mrpc set { show | list } [NAME]\n"
	  "       mrpc set create NAME [text | integer]\n"
	  "       mrpc set destroy NAME\n"
	  "       mrpc set { add | del } NAME KEY...\n"
	  "       mrpc set load NAME FILE\n"
	  "       mrpc set flush NAME\n"
	  "\n"
	  "Sets of up to a million keys, which rules refer to as '@NAME'. They can be changed\n"
	  "while calls pass. A backslash in a text begins \\\\, \\n, \\r, \\t or \\xHH.\n"
	  "\n"
	  "show     the sets; with a name, the keys of one, in no order\n"
	  "create   an empty one\n"
	  "destroy  it; refused while rules refer to it\n"
	  "add      keys; those that are there stay\n"
	  "del      keys; those that are not there are no mistake\n"
	  "load     add the keys of a file, one in each line; '-' is standard input\n"
	  "flush    remove all keys\n" },
	{ "config",
	  "Usage: mrpc config save [FILE]\n"
	  "       mrpc config restore [exact] [FILE]\n"
	  "\n"
	  "save     write the engines of this network namespace, its egress domains, the sets of\n"
	  "         keys, and where the policies that these use come from, to a file, as JSON;\n"
	  "         engines whose scope is a session, a process or a datapath are left out, and\n"
	  "         what is paused\n"
	  "restore  make it so; what is so already is not touched; engines, domains, sets and keys\n"
	  "         that the file does not have stay, or, with 'exact', are removed\n"
	  "\n"
	  "FILE is /etc/mrpc/config.json if none is given, or, in the network namespace NAME,\n"
	  "/etc/netns/NAME/mrpc/config.json; '-' is standard output or input.\n"
	  "The unit mrpc-config.service restores that file at boot.\n" },
	{ "plan",
	  "Usage: mrpc plan { check | show } FILE\n"
	  "       mrpc plan apply FILE [--dry-run] [--keep]\n"
	  "       mrpc plan resume FILE [--keep]\n"
	  "       mrpc plan rollback FILE\n"
	  "\n"
	  "Changes of several hosts, in order, each with checks; mrpc(8) describes the file.\n"
	  "\n"
	  "check      is the file right, do all hosts answer, are the engines there?\n"
	  "show       the steps, and which of them are done\n"
	  "apply      make them; if one fails, or a check does not become true, all of them are\n"
	  "           taken back, the last first\n"
	  "resume     go on with a plan that was interrupted\n"
	  "rollback   take back what was done of a plan, finished or not\n"
	  "\n"
	  "--dry-run  say what would be done, and how it would be taken back; change nothing\n"
	  "--keep     if a step fails, leave everything as it is then\n"
	  "\n"
	  "What was done is written to FILE.state after each change.\n" },
	{ "top",
	  "Usage: mrpc top [connections | services | methods] [--sort ORDER] [--every TIME]\n"
	  "       mrpc [-j] top ... --batch NUMBER\n"
	  "\n"
	  "  ORDER  calls | errors | bytes | active | queued | oldest | p50 | p99\n"
	  "\n"
	  "Calls, errors and bytes in a second, calls in flight, messages in queues and the age\n"
	  "of the oldest, and, where an engine of the type metrics measures, how long calls\n"
	  "took: half of them at most P50, 99 % at most P99. For single connections these are\n"
	  "known if it has 'per_connection on', and there are at most 64. Again every second,\n"
	  "or as --every says.\n"
	  "\n"
	  "Keys: c connections, v services, m methods, s sort by the next column, q quit.\n"
	  "\n"
	  "--batch  print so many times, for scripts (also: -b)\n" },
	{ "metrics",
	  "Usage: mrpc [-j] metrics [--listen [ADDRESS:PORT]]\n"
	  "\n"
	  "Prints what is known of sessions, connections, services, queues, groups, engines,\n"
	  "runtimes, egress domains, transports and sets, and the histograms of engines of the\n"
	  "type metrics, in the text format of Prometheus. With -j: the histograms, with all\n"
	  "their buckets; 'mrpc -j dump' has the rest.\n"
	  "\n"
	  "--listen  serve that at http://ADDRESS:PORT/metrics (127.0.0.1:9469), or at the\n"
	  "          socket that systemd has passed, as mrpc-exporter.service does\n" },
	{ "monitor",
	  "Usage: mrpc [-j] [-t] monitor [OBJECT] [--ts]\n"
	  "\n"
	  "  OBJECT  all | session | conn | service | engine | egress | policy\n"
	  "\n"
	  "Prints a line for each session, connection and served service that comes or goes, for\n"
	  "each engine that is added, changed or removed, or misbehaves, for each policy that is\n"
	  "attached, gets other programs or is detached, and for each egress domain that is set\n"
	  "or deleted, or whose datapaths do not use their turns in time, until it is\n"
	  "interrupted.\n" },
	{ "dump",
	  "Usage: mrpc [-j [-p]] dump\n"
	  "\n"
	  "Prints everything about all objects.\n" },
	{ "version",
	  "Usage: mrpc version\n" },
	{ }
};

void help_object(const char *object)
{
	int i;

	for (i = 0; helps[i].object; i++)
		if (!strcmp(helps[i].object, object))
			fputs(helps[i].text, stdout);
}

int run_command(struct args *args, const char *object, const struct word *commands,
		const char *preset)
{
	const char *text = next_word(args);
	const struct word *word;

	if (!is_help(text) && !is_help(peek_word(args))) {
		word = find_word(commands, text ?: preset, "a command");
		if (word->run)
			return word->run(args);
	}
	help_object(object);
	return 0;
}

int do_help(struct args *args)
{
	static const struct word objects[] = {
		{ "session" }, { "qp" }, { "conn" }, { "service" }, { "schema" },
		{ "datapath" }, { "group" }, { "engine" }, { "queue" }, { "runtime" },
		{ "egress" }, { "transport", .whole = true },
		{ "set", .whole = true }, { "config", .whole = true }, { "plan" },
		{ "policy", .whole = true }, { "metrics", .whole = true }, { "monitor" },
		{ "top" }, { "dump" }, { "version" }, { }
	};
	const char *word = next_word(args);

	if (!word)
		fputs(general, stdout);
	else
		help_object(find_word(objects, word, "an object")->name);
	no_more_words(args);
	return 0;
}
