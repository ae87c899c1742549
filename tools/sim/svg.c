// SPDX-License-Identifier: GPL-2.0
/* Results as pictures: lines over a few points, in SVG without anything else. */
#include <errno.h>
#include <math.h>

#include "memory.h"
#include "result.h"

#define WIDTH	720
#define HEIGHT	400
#define LEFT	70
#define RIGHT	150
#define TOP	40
#define BOTTOM	60

static const char *const colours[] = {
	"#0b5fa5", "#c8461e", "#2d8a3e", "#8548a8", "#97710a", "#555555",
};

/**
 * struct plot - a picture being drawn
 * @out: to
 * @points: along the x axis
 * @low, @high: ends of the y axis
 * @log: it is logarithmic
 * @lines: drawn so far
 */
struct plot {
	FILE *out;
	u32 points;
	double low;
	double high;
	bool log;
	u32 lines;
};

static double x_of(const struct plot *p, u32 i)
{
	return LEFT + (WIDTH - LEFT - RIGHT) * (i + 0.5) / p->points;
}

static double y_of(const struct plot *p, double v)
{
	double part = (v - p->low) / (p->high - p->low);

	if (p->log)
		part = log(max(v, p->low) / p->low) / log(p->high / p->low);
	return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * part;
}

static void text(const struct plot *p, double x, double y, const char *anchor, const char *what)
{
	fprintf(p->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
	for (; *what; what++) {
		if (*what == '&')
			fputs("&amp;", p->out);
		else if (*what == '<')
			fputs("&lt;", p->out);
		else
			fputc(*what, p->out);
	}
	fprintf(p->out, "</text>\n");
}

static void tick(const struct plot *p, double v)
{
	char label[32];

	snprintf(label, sizeof(label), "%g", v);
	fprintf(p->out, "<path d=\"M%d %.1fH%d\" stroke=\"#ddd\"/>\n", LEFT, y_of(p, v),
		WIDTH - RIGHT);
	text(p, LEFT - 6, y_of(p, v) + 4, "end", label);
}

/* 1, 2, 5, 10, ... */
static double next_tick(double v)
{
	double first = v / pow(10, floor(log10(v) + 1e-9));

	return v * (first > 1.5 && first < 3 ? 2.5 : 2);
}

static int open_plot(struct plot *p, const char *path, const char *title, const char *y)
{
	double v, step;

	p->out = fopen(path, "w");
	if (!p->out) {
		fprintf(stderr, "mrpc-sim: %s: %s\n", path, strerror(errno));
		return 1;
	}
	fprintf(p->out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" ",
		WIDTH, HEIGHT);
	fprintf(p->out, "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"11\">\n",
		WIDTH, HEIGHT);
	fprintf(p->out, "<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n", WIDTH, HEIGHT);
	text(p, LEFT, 20, "start", title);
	text(p, LEFT, TOP - 6, "start", y);
	step = (p->high - p->low) / 5;
	for (v = p->low; v <= p->high * 1.0001; v = p->log ? next_tick(v) : v + step)
		tick(p, v);
	return 0;
}

static void line(struct plot *p, const char *name, const double *values, bool dashed)
{
	const char *colour = colours[p->lines / 2 % ARRAY_SIZE(colours)];
	double y = TOP + 14 + 16 * p->lines;
	u32 i;

	fprintf(p->out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\"%s d=\"", colour,
		dashed ? " stroke-dasharray=\"4 3\"" : "");
	for (i = 0; i < p->points; i++)
		fprintf(p->out, "%c%.1f %.1f", i ? 'L' : 'M', x_of(p, i), y_of(p, values[i]));
	fprintf(p->out, "M%d %.1fh22\"/>\n", WIDTH - RIGHT + 12, y - 4);
	text(p, WIDTH - RIGHT + 40, y, "start", name);
	p->lines++;
}

static int close_plot(struct plot *p, const char *path, const char *x)
{
	text(p, LEFT, HEIGHT - 14, "start", x);
	fprintf(p->out, "</svg>\n");
	if (fclose(p->out)) {
		fprintf(stderr, "mrpc-sim: %s: %s\n", path, strerror(errno));
		return 1;
	}
	return 0;
}

static double highest(const struct sim_result *r, u32 nr)
{
	double high = 2, top = 1;
	u32 i, k;

	for (i = 0; i < nr; i++)
		for (k = 0; k < SIM_DECILES; k++)
			high = max(high, r[i].deciles[k].p99);
	while (top < high)
		top = next_tick(top);
	return top;
}

static void x_bytes(const struct plot *p, u32 i, u32 bytes)
{
	char label[32];

	if (bytes < 10000)
		snprintf(label, sizeof(label), "%u", bytes);
	else if (bytes < 10000000)
		snprintf(label, sizeof(label), "%uK", bytes / 1000);
	else
		snprintf(label, sizeof(label), "%uM", bytes / 1000000);
	text(p, x_of(p, i), HEIGHT - BOTTOM + 16, "middle", label);
}

int sim_draw_slowdown(const char *path, const char *title, const struct sim_result *r, u32 nr)
{
	struct plot p = { .points = SIM_DECILES, .low = 1, .high = highest(r, nr), .log = true };
	double p99[SIM_DECILES], p50[SIM_DECILES];
	char name[64];
	u32 i, k;

	if (open_plot(&p, path, title, "slowdown"))
		return 1;
	for (k = 0; k < SIM_DECILES; k++)
		x_bytes(&p, k, r->deciles[k].up_to);
	for (i = 0; i < nr; i++) {
		for (k = 0; k < SIM_DECILES; k++) {
			p99[k] = r[i].deciles[k].p99;
			p50[k] = r[i].deciles[k].p50;
		}
		snprintf(name, sizeof(name), "%s, P99", r[i].transport);
		line(&p, name, p99, false);
		snprintf(name, sizeof(name), "%s, P50", r[i].transport);
		line(&p, name, p50, true);
	}
	return close_plot(&p, path, "deciles of messages, up to so many bytes");
}

int sim_draw_use(const char *path, const char *title, const struct sim_result *r, u32 nr)
{
	struct plot p = { .points = nr, .low = 0, .high = 100 };
	double *wire, *goodput;
	char label[32];
	u32 i;

	if (open_plot(&p, path, title, "% of the hosts' cables"))
		return 1;
	wire = sim_zalloc(2 * nr * sizeof(*wire));
	goodput = wire + nr;
	for (i = 0; i < nr; i++) {
		snprintf(label, sizeof(label), "%u", r[i].overcommit);
		text(&p, x_of(&p, i), HEIGHT - BOTTOM + 16, "middle", label);
		wire[i] = 100 * r[i].utilisation;
		goodput[i] = 100 * r[i].goodput;
	}
	line(&p, "utilisation", wire, false);
	line(&p, "goodput", goodput, true);
	free(wire);
	return close_plot(&p, path, "messages granted at a time (overcommitment)");
}
