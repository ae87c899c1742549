/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MRPCC_PLUGIN_H
#define MRPCC_PLUGIN_H

/* protoc's side: a request on stdin, a response on stdout. Return: exit status. */
int plugin_main(void);

#endif /* MRPCC_PLUGIN_H */
