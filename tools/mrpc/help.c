// SPDX-License-Identifier: GPL-2.0
/* What 'help' says, on every level. */
#include <string.h>

#include "tool.h"

static const char general[] =
	"Usage: mrpc [OPTIONS] OBJECT [COMMAND [ARGUMENTS]]\n"
	"       mrpc [OPTIONS] monitor | dump | version | help [OBJECT]\n"
	"\n"
	"Shows what the kernel's RPC service does in this network namespace.\n"
	"\n"
	"Objects:\n"
	"  session   applications that have /dev/mrpc open\n"
	"  qp        their queue pairs\n"
	"  conn      their connections\n"
	"  service   services that they serve or call, and where\n"
	"  schema    compiled schemas; checking and loading schema files\n"
	"  datapath  what each connection has queued and who executes it\n"
	"Commands of all objects: show (also: list; the default), dump, help\n"
	"Further commands:\n"
	"  monitor   prints events as they happen\n"
	"  dump      everything about all objects\n"
	"  version   of this command\n"
	"\n"
	"Options:\n"
	"  -j, --json        print JSON, with every value that the kernel gives\n"
	"  -p, --pretty      indent the JSON\n"
	"  -s, --stats       show more columns\n"
	"  -t, --ts          begin each event with its time\n"
	"  -n, --netns NAME  in this network namespace (a name of 'ip netns', or a path)\n"
	"  -V, --version     print the version\n"
	"  -h, --help        print this\n"
	"\n"
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
	  "\n"
	  "Connections, at the client's and at the server's end. With -s: frames, bytes,\n"
	  "refused messages, and stalls for want of receive heap.\n" },
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
	  "of a message, ZOMBIES ended calls whose last word has not come, TIMER the time until\n"
	  "it looks at deadlines and keepalive. TX and RX say what a direction is doing:\n"
	  "running, missed (new work), disabled, ready, stalled (no receive heap), blocked (the\n"
	  "transmit queue is too long).\n" },
	{ "monitor",
	  "Usage: mrpc [-j] [-t] monitor [all | session | conn | service] [--ts]\n"
	  "\n"
	  "Prints a line for each session, connection and served service that comes or goes,\n"
	  "until it is interrupted.\n" },
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

int do_help(struct args *args)
{
	static const struct word objects[] = {
		{ "session" }, { "qp" }, { "conn" }, { "service" }, { "schema" },
		{ "datapath" }, { "monitor" }, { "dump" }, { "version" }, { }
	};
	const char *word = next_word(args);

	if (!word)
		fputs(general, stdout);
	else
		help_object(find_word(objects, word, "an object")->name);
	no_more_words(args);
	return 0;
}
