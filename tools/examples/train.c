// SPDX-License-Identifier: MIT
/*
 * mrpc-train RANKS RANK [ADDRESS [STEPS]]: trains a small model on the data of all ranks.
 *
 * Each rank has the whole model, and a part of the data. In each step it sums the gradients of its
 * own part. AllReduce adds those of all ranks, and each rank changes its model by the sum. Gradients
 * are summed as integers, whose sums do not depend on the order. So the models of all ranks are the
 * same, bit for bit, and the same that one rank alone makes: "mrpc-train 1 0".
 *
 * The model has one hidden layer. It learns whether a point is inside of a ring.
 */
#include <err.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mrpc.h>

#define INPUTS		2
#define HIDDEN		16
#define SAMPLES		1024		/* of all ranks together */
#define RATE		2.0
#define FIXED		4294967296.0	/* a gradient of 1 as an integer */

#define WEIGHTS		(HIDDEN * (INPUTS + 2) + 1)

/* The weights of the hidden units, their offsets, their weights in the output, and its offset. */
struct model {
	double w[WEIGHTS];
};

/* What a rank adds to the sums of all: the gradient of each weight, the loss, and right answers. */
struct sums {
	int64_t gradient[WEIGHTS];
	int64_t loss;
	int64_t right;
};

#define SUMS		(sizeof(struct sums) / sizeof(int64_t))

/* The same numbers at all ranks: in [-1, 1). */
static double draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (double)(int64_t)*state / 9223372036854775808.0;
}

static void model_init(struct model *m)
{
	uint64_t state = 42;
	int i;

	for (i = 0; i < WEIGHTS; i++)
		m->w[i] = draw(&state);
}

/* Sample @i of all: a point, and whether it is inside of the ring. */
static double sample(int i, double *x)
{
	uint64_t state = 88172645463325252u + (uint64_t)i * 2654435761u;
	double r;
	int j;

	for (j = 0; j < 8; j++)		/* neighbours begin alike */
		draw(&state);
	for (j = 0; j < INPUTS; j++)
		x[j] = draw(&state) * 2;
	r = sqrt(x[0] * x[0] + x[1] * x[1]);
	return r > 0.6 && r < 1.5;
}

static int64_t fixed(double x)
{
	return (int64_t)llround(x * FIXED);
}

/* Adds what one sample says. */
static void add_sample(const struct model *m, int i, struct sums *sums)
{
	const double *hidden = m->w, *offset = hidden + HIDDEN * INPUTS, *out = offset + HIDDEN;
	double x[INPUTS], h[HIDDEN], y = out[HIDDEN], wanted = sample(i, x), error, back;
	int j, k;

	for (j = 0; j < HIDDEN; j++) {
		h[j] = offset[j];
		for (k = 0; k < INPUTS; k++)
			h[j] += hidden[j * INPUTS + k] * x[k];
		h[j] = tanh(h[j]);
		y += out[j] * h[j];
	}
	y = 1 / (1 + exp(-y));
	error = y - wanted;
	for (j = 0; j < HIDDEN; j++) {
		back = error * out[j] * (1 - h[j] * h[j]);
		for (k = 0; k < INPUTS; k++)
			sums->gradient[j * INPUTS + k] += fixed(back * x[k]);
		sums->gradient[HIDDEN * INPUTS + j] += fixed(back);
		sums->gradient[HIDDEN * (INPUTS + 1) + j] += fixed(error * h[j]);
	}
	sums->gradient[WEIGHTS - 1] += fixed(error);
	sums->loss += fixed(error * error);
	sums->right += (y > 0.5) == (wanted > 0.5);
}

static void learn(struct model *m, const struct sums *sums)
{
	int i;

	for (i = 0; i < WEIGHTS; i++)
		m->w[i] -= RATE * (double)sums->gradient[i] / FIXED / SAMPLES;
}

/* Two models with the same sum have the same bits. */
static uint64_t checksum(const struct model *m)
{
	uint64_t sum = 14695981039346656037u, bits;
	int i;

	for (i = 0; i < WEIGHTS; i++) {
		memcpy(&bits, &m->w[i], sizeof(bits));
		sum = (sum ^ bits) * 1099511628211u;
	}
	return sum;
}

static void train(struct mrpc_session *session, struct mrpc_group *group, int steps)
{
	int rank = (int)mrpc_group_rank(group), ranks = (int)mrpc_group_ranks(group), step, i;
	struct sums *sums = mrpc_alloc(session, sizeof(*sums));
	struct model m;

	if (!sums)
		errx(1, "%s", mrpc_last_error());
	model_init(&m);
	for (step = 0; step < steps; step++) {
		memset(sums, 0, sizeof(*sums));
		for (i = rank; i < SAMPLES; i += ranks)
			add_sample(&m, i, sums);
		if (mrpc_group_allreduce(group, sums, sums, SUMS, MRPC_ELEM_I64, MRPC_REDUCE_SUM))
			errx(1, "step %d: %s", step, mrpc_last_error());
		learn(&m, sums);
		if (!(step & (step - 1)) || step == steps - 1)
			printf("step %d: loss %.6f, %.1f %% right, model %016llx\n", step,
			       (double)sums->loss / FIXED / SAMPLES,
			       100.0 * (double)sums->right / SAMPLES,
			       (unsigned long long)checksum(&m));
	}
	mrpc_free(session, sums);
}

/* A whole number that is not below @least. */
static int number(const char *text, int least)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (errno || *end || end == text || n < least || n > 1000000)
		errx(2, "%s is not a number from %d to 1000000", text, least);
	return (int)n;
}

int main(int argc, char **argv)
{
	const char *address = argc > 3 ? argv[3] : "tcp:127.0.0.1:7003";
	struct mrpc_session *session;
	struct mrpc_group *group;

	if (argc < 3 || argc > 5)
		errx(2, "usage: mrpc-train RANKS RANK [ADDRESS [STEPS]]");
	session = mrpc_session_open(NULL);
	if (!session)
		errx(1, "%s", mrpc_last_error());
	group = mrpc_group_create(session, address, (uint32_t)number(argv[1], 1),
				  (uint32_t)number(argv[2], 0), NULL);
	if (!group)
		errx(1, "%s", mrpc_last_error());
	setvbuf(stdout, NULL, _IOLBF, 0);
	train(session, group, argc > 4 ? number(argv[4], 1) : 500);
	if (mrpc_group_leave(group))
		errx(1, "%s", mrpc_last_error());
	mrpc_session_close(session);
	return 0;
}
