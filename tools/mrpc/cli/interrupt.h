/* SPDX-License-Identifier: GPL-2.0 */
/* Signals that stop a long command between two steps. */
#ifndef MRPC_TOOL_CLI_INTERRUPT_H
#define MRPC_TOOL_CLI_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

extern volatile sig_atomic_t interrupted;

void interrupt_catch(void);
void interrupt_release(void);
bool interrupt_wait(uint64_t ns);

#endif /* MRPC_TOOL_CLI_INTERRUPT_H */
