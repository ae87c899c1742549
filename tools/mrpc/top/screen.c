// SPDX-License-Identifier: GPL-2.0
/*
 * mrpc top: the terminal. Its content stays at the end, so that an error message stands below it.
 * Its modes are restored, however the program ends.
 *
 * A signal that ends the program does so at any time, also when output is held (Ctrl-S). The other
 * signals are blocked except in screen_wait().
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "cli/clock.h"
#include "cli/util.h"
#include "top/sample.h"
#include "top/screen.h"

static struct termios before;
static bool begun;
static sigset_t outside;		/* the signals that were blocked before */
static volatile sig_atomic_t resized, stopped;
static const char normal[] = "\033[?25h\033[?7h\n";

static void got_signal(int sig)
{
	if (sig == SIGWINCH)
		resized = 1;
	else
		stopped = 1;
}

/* A signal handler: calls only functions that are safe at any time. */
static void got_end(int sig)
{
	struct pollfd p = { STDOUT_FILENO, POLLOUT };

	(void)sig;
	if (begun) {
		tcsetattr(STDIN_FILENO, TCSANOW, &before);
		if (poll(&p, 1, 0) == 1 && write(STDOUT_FILENO, normal, strlen(normal)) < 0)
			_exit(EXIT_FAILED);
	}
	_exit(0);
}

static void put(const char *text)
{
	fputs(text, stdout);
	fflush(stdout);
}

/* Keys come one by one, without echo. Lines are cut, not wrapped. There is no cursor. */
static void enter(void)
{
	struct termios raw = before;

	raw.c_lflag &= ~(ICANON | ECHO);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	begun = true;
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	put("\033[?25l\033[?7l\033[H\033[2J");
}

static void leave(void)
{
	if (!begun)
		return;
	put(normal);
	tcsetattr(STDIN_FILENO, TCSANOW, &before);
	begun = false;
}

static void catch(int sig, void (*handler)(int sig))
{
	struct sigaction sa = { .sa_handler = handler };

	sigaction(sig, &sa, NULL);
}

/* Does not return if there is no terminal. */
void screen_begin(void)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	sigset_t set;
	size_t i;

	if (!isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &before))
		usage("top needs a terminal; '--batch N' prints N times");
	for (i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		catch(ends[i], got_end);
	catch(SIGWINCH, got_signal);
	catch(SIGTSTP, got_signal);
	sigemptyset(&set);
	sigaddset(&set, SIGWINCH);
	sigaddset(&set, SIGTSTP);
	sigprocmask(SIG_BLOCK, &set, &outside);
	atexit(leave);
	enter();
}

/* Stops as other programs do on this signal. Returns when the shell continues it. */
static void stop(void)
{
	sigset_t inside;

	leave();
	signal(SIGTSTP, SIG_DFL);
	raise(SIGTSTP);
	sigprocmask(SIG_SETMASK, &outside, &inside);
	sigprocmask(SIG_SETMASK, &inside, NULL);
	catch(SIGTSTP, got_signal);
	enter();
}

/* The bytes of a line that fit into @columns of the terminal. */
static size_t fitting(const char *line, size_t len, int columns)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (((unsigned char)line[i] & 0xc0) != 0x80 && !columns--)
			break;
	return i;
}

/**
 * screen_show() - print text onto the screen
 * @text: lines; what does not fit is cut off
 */
void screen_show(const char *text)
{
	struct winsize size = { };
	int rows, columns;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_row || !size.ws_col)
		size = (struct winsize) { .ws_row = 24, .ws_col = 80 };
	rows = size.ws_row;
	columns = size.ws_col;
	fputs("\033[H", stdout);
	/* The last row stays empty for the cursor and for error messages. */
	while (*text && --rows > 0) {
		size_t len = strcspn(text, "\n");

		fwrite(text, 1, fitting(text, len, columns), stdout);
		fputs("\033[K\n", stdout);
		text += len + (text[len] == '\n');
	}
	put("\033[J");
	if (ferror(stdout))
		exit(EXIT_FAILED);	/* the terminal is gone */
}

/**
 * screen_wait() - wait for a key
 * @until_ns: of clock_ns()
 *
 * Return: the key, or SCREEN_*.
 */
int screen_wait(uint64_t until_ns)
{
	struct pollfd p = { STDIN_FILENO, POLLIN };
	uint64_t now = clock_ns(), left = until_ns > now ? until_ns - now : 0;
	struct timespec time = { left / 1000000000, left % 1000000000 };
	int nr = ppoll(&p, 1, &time, &outside);
	char key;

	if (stopped) {
		stopped = 0;
		stop();
		return SCREEN_DRAW;
	}
	if (resized) {
		resized = 0;
		return SCREEN_DRAW;
	}
	if (nr <= 0)
		return nr && errno != EINTR ? SCREEN_END : nr ? SCREEN_DRAW : SCREEN_TIME;
	if (read(STDIN_FILENO, &key, 1) != 1)
		return SCREEN_END;	/* the terminal is gone */
	return (unsigned char)key ?: SCREEN_DRAW;
}
