/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Allocations that fail, one by one, in a kernel that injects faults.
 */
#ifndef FAULT_H
#define FAULT_H

#include <stdbool.h>

/*
 * fault_begin() - skip the test unless the kernel injects faults; else let any
 * allocation of the calling thread be one that can fail
 */
#define fault_begin()							\
	do {								\
		if (!fault_open())					\
			SKIP("this kernel does not inject faults");	\
	} while (0)
bool fault_open(void);

/* The @nth allocation of the calling thread fails, from now on; 0: none does. */
void fault_arm(unsigned int nth);
/* Ends that. Return: the thread has come to that allocation. */
bool fault_came(void);

/* More than any command allocates. */
#define FAULT_MANY	3000

/* Is @err, a negative errno, what the kernel or a socket says of an allocation that failed? */
bool fault_is_refusal(int err);

#endif /* FAULT_H */
