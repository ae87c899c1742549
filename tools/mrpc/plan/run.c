// SPDX-License-Identifier: GPL-2.0
/* mrpc plan: running commands on hosts. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <json-c/json.h>

#include "cli/clock.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/util.h"
#include "nl/decode.h"
#include "plan/file.h"
#include "plan/run.h"
#include "plan/words.h"

#define SHOW_TIME	30000000000	/* limit for a host's answer, ns */
#define OUTPUT_MAX	(64 << 20)

/* -- the words of a command ------------------------------------------------------------ */

/* Quotes a word for a POSIX shell. */
static char *shell_word(const char *word)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.,:/@%+=-";
	char *text = NULL;
	size_t len = 0;
	FILE *out;

	if (*word && strspn(word, plain) == strlen(word))
		return text_printf("%s", word);
	out = open_text(&text, &len);
	putc('\'', out);
	for (; *word; word++)
		fputs(*word == '\'' ? "'\\''" : (char [2]) { *word }, out);
	putc('\'', out);
	fclose(out);
	return text;
}

/* On this host it runs this program, on others the program called mrpc. */
static struct command host_words(const struct host *h, const struct command *c, bool show)
{
	struct command all = { };
	char self[4096];
	ssize_t len;
	int i;

	for (i = 0; i < h->nr_via; i++)
		words_add(&all, h->via[i]);
	len = h->nr_via ? -1 : readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[len > 0 ? len : 0] = 0;
	words_add(&all, len > 0 ? self : "mrpc");
	if (show)
		words_add(&all, "-j");
	for (i = 0; i < c->nr; i++)
		words_add(&all, h->quote ? shell_word(c->words[i]) : c->words[i]);
	return all;
}

/* -- running ------------------------------------------------------------------------------ */

/**
 * struct child - a running command
 * @pid: process
 * @fd: its output, and its error output
 * @text: what came of these
 * @len: bytes of that
 * @echo: prefix with which lines of its output are shown; NULL: they are not shown
 * @echoed: bytes shown
 */
struct child {
	pid_t pid;
	int fd[2];
	char *text[2];
	size_t len[2];
	const char *echo;
	size_t echoed;
};

static void __attribute__((noreturn)) exec_child(const struct command *c, const int out[2],
						 const int err[2])
{
	int null = open("/dev/null", O_RDONLY);

	/* The child takes a gradual change back when the plan is killed in the middle of it. */
	prctl(PR_SET_PDEATHSIG, SIGINT);
	interrupt_release();
	dup2(null, STDIN_FILENO);
	dup2(out[1], STDOUT_FILENO);
	dup2(err[1], STDERR_FILENO);
	execvp(c->words[0], c->words);
	fprintf(stderr, "cannot run '%s': %s\n", c->words[0], strerror(errno));
	_exit(127);
}

static void start(struct child *child, const struct command *c)
{
	int out[2], err[2];

	fflush(stdout);
	if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
		fail("cannot make a pipe: %s", strerror(errno));
	child->pid = fork();
	if (child->pid < 0)
		fail("cannot make a process: %s", strerror(errno));
	if (!child->pid)
		exec_child(c, out, err);
	close(out[1]);
	close(err[1]);
	child->fd[0] = out[0];
	child->fd[1] = err[0];
}

static void echo_lines(struct child *c)
{
	char *end;

	while (c->echo && c->len[0] > c->echoed &&
	       (end = memchr(c->text[0] + c->echoed, '\n', c->len[0] - c->echoed))) {
		printf("%s%.*s\n", c->echo, (int)(end - c->text[0] - c->echoed),
		       c->text[0] + c->echoed);
		fflush(stdout);
		c->echoed = end - c->text[0] + 1;
	}
}

static void take_output(struct child *c, int i)
{
	char piece[65536];
	ssize_t n = read(c->fd[i], piece, sizeof(piece));

	if (n < 0 && errno == EINTR)
		return;
	if (n <= 0) {
		close(c->fd[i]);
		c->fd[i] = -1;
		return;
	}
	if (c->len[i] + n > OUTPUT_MAX)
		fail("a command prints more than %d bytes", OUTPUT_MAX);
	c->text[i] = realloc(c->text[i], c->len[i] + n + 1);
	if (!c->text[i])
		fail("out of memory");
	memcpy(c->text[i] + c->len[i], piece, n);
	c->len[i] += n;
	c->text[i][c->len[i]] = 0;
	if (!i)
		echo_lines(c);
}

/* Reads until the command ends or the time is over. Return: false: the time is over. */
static bool follow(struct child *c, uint64_t until)
{
	bool told = false;

	while (c->fd[0] >= 0 || c->fd[1] >= 0) {
		struct pollfd p[2] = { { c->fd[0], POLLIN }, { c->fd[1], POLLIN } };
		uint64_t now = clock_ns();
		int i;

		if (until && now >= until)
			return false;
		/* A gradual change that is under way takes itself back. */
		if (interrupted && !told)
			kill(c->pid, SIGINT);
		told |= interrupted;
		poll(p, 2, until ? (until - now) / 1000000 + 1 : 1000);
		for (i = 0; i < 2; i++)
			if (p[i].revents)
				take_output(c, i);
	}
	return true;
}

/**
 * host_run() - run a command on a host
 * @h: the host
 * @c: words behind "mrpc"
 * @show: it is a question: it prints JSON, and the host has to answer soon. Otherwise its output
 *	is shown as it comes
 */
struct outcome host_run(const struct host *h, const struct command *c, bool show)
{
	struct command words = host_words(h, c, show);
	char *echo = text_printf("    %s: ", h->name);
	struct child child = { .echo = show || options.json ? NULL : echo };
	struct outcome o = { .status = -1 };
	int status;

	start(&child, &words);
	if (follow(&child, show ? clock_ns() + SHOW_TIME : 0)) {
		while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR)
			;
		o.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	} else {
		kill(child.pid, SIGKILL);
		waitpid(child.pid, &status, 0);
		close(child.fd[0]);
		close(child.fd[1]);
		free(child.text[1]);
		child.text[1] = text_printf("no answer in %d s", (int)(SHOW_TIME / 1000000000));
	}
	o.out = child.text[0] ?: text_printf("%s", "");
	o.err = child.text[1] ?: text_printf("%s", "");
	free(echo);
	return o;
}

void outcome_free(struct outcome *o)
{
	free(o->out);
	free(o->err);
}

/*
 * Did the mrpc command run on the host, and end? If not, it is not known whether it has changed
 * something.
 */
bool outcome_known(const struct outcome *o)
{
	const char *said = o->err;

	if (!o->status)
		return true;
	/* Other programs may have printed something before. */
	while (said && strncmp(said, "mrpc: ", 6)) {
		said = strchr(said, '\n');
		said += !!said;
	}
	return said && (o->status == EXIT_FAILED || o->status == EXIT_USAGE);
}

/* The last line of its error output, without "mrpc: "; to be freed. */
char *outcome_why(const struct outcome *o)
{
	size_t len = strlen(o->err);
	const char *line;

	while (len && (o->err[len - 1] == '\n' || o->err[len - 1] == '\r'))
		len--;
	line = memrchr(o->err, '\n', len);
	line = line ? line + 1 : o->err;
	len -= line - o->err;
	if (!len)
		return text_printf("it ended with the status %d and said nothing", o->status);
	if (len > 6 && !strncmp(line, "mrpc: ", 6)) {
		line += 6;
		len -= 6;
	}
	return clean_text(line, len);
}

/**
 * host_ask() - run a command that shows something
 * @h: the host
 * @c: words behind "mrpc -j"
 * @why: out, on failure, to be freed
 *
 * Return: the JSON, or NULL.
 */
struct json_object *host_ask(const struct host *h, const struct command *c, char **why)
{
	struct outcome o = host_run(h, c, true);
	struct json_object *object = NULL;

	if (o.status) {
		*why = outcome_why(&o);
	} else {
		object = json_tokener_parse(o.out);
		if (!object)
			*why = text_printf("what it says is not JSON");
	}
	outcome_free(&o);
	return object;
}
