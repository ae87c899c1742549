// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Ports at which rank 0 will listen.
 *
 * A port that is bound, with SO_REUSEADDR, and has no listener, is given to no other socket that
 * asks for any port. The module's listeners have SO_REUSEADDR, too, so rank 0 can listen there.
 */
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "port.h"

/* A port that is kept. */
struct port {
	char token[TOKEN_TEXT];
	int fd;
	struct port *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct port *ports;	/* under the lock */

/* Writes the address to which a socket is bound, as mrpc writes it. 0 or an errno. */
static int format(int fd, char address[ADDRESS_TEXT])
{
	struct sockaddr_storage bound;
	char host[ADDRESS_TEXT], number[8];
	socklen_t len = sizeof(bound);

	if (getsockname(fd, (struct sockaddr *)&bound, &len))
		return errno;
	if (getnameinfo((struct sockaddr *)&bound, len, host, sizeof(host), number, sizeof(number),
			NI_NUMERICHOST | NI_NUMERICSERV))
		return EADDRNOTAVAIL;
	if (snprintf(address, ADDRESS_TEXT,
		     bound.ss_family == AF_INET6 ? "tcp:[%s]:%s" : "tcp:%s:%s", host, number) >=
	    ADDRESS_TEXT)
		return ENAMETOOLONG;
	return 0;
}

/* Return: the socket; -1: errno says why. */
static int bind_any_port(const struct sockaddr_storage *host, char address[ADDRESS_TEXT])
{
	int fd = socket(host->ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1, err = 0;

	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(fd, (const struct sockaddr *)host, sizeof(*host)))
		err = errno;
	if (!err)
		err = format(fd, address);
	if (!err)
		return fd;
	close(fd);
	errno = err;
	return -1;
}

ncclResult_t port_keep(const struct sockaddr_storage *host, struct unique_id *content)
{
	struct port *port = malloc(sizeof(*port));

	if (!port)
		return fail(ncclSystemError, "ncclGetUniqueId: out of memory");
	port->fd = bind_any_port(host, content->address);
	if (port->fd < 0) {
		fail(ncclSystemError, "ncclGetUniqueId: cannot take a port: %s", strerror(errno));
		free(port);
		return ncclSystemError;
	}
	strcpy(port->token, content->token);
	pthread_mutex_lock(&lock);
	port->next = ports;
	ports = port;
	pthread_mutex_unlock(&lock);
	return ncclSuccess;
}

void port_give(const char *token)
{
	struct port **at, *port;

	pthread_mutex_lock(&lock);
	for (at = &ports; *at && strcmp((*at)->token, token); at = &(*at)->next)
		;
	port = *at;
	if (port)
		*at = port->next;
	pthread_mutex_unlock(&lock);
	if (!port)
		return;
	close(port->fd);
	free(port);
}
