// SPDX-License-Identifier: BSD-3-Clause
#include "cmd/serve/answer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/log.h"
#include "base/peer.h"

#define REQUEST_MOST 8192 /* bytes */
/*
 * A further connection closes the oldest one, so that clients that stay connected keep nobody out.
 */
#define CONNECTIONS 16

/*
 * Of a connection, from its begin to the end of the response. libevent's own limit begins anew with
 * each byte.
 */
static const struct timeval connection_time = { .tv_sec = 5 };

/* Descriptors of the process that answers. */
enum { CHANNEL, LISTENER };

/* From the reader, with a file of both texts, the plain one first. */
struct given {
	size_t plain, open; /* bytes */
};

struct answer_text {
	struct evbuffer_file_segment *segment; /* NULL: none yet */
	size_t size;
};

struct connection {
	struct bufferevent *buffers; /* libevent's too, while it is open; NULL: none */
	struct event *limit;
};

struct answering {
	struct event_base *base;
	bool local;
	struct answer_text plain, open;
	struct connection connections[CONNECTIONS]; /* in turn */
	unsigned int next;
};

/* ---- the response ---- */

/* Names of this machine that no name server can give to another one. */
static bool is_local(const char *host)
{
	struct in_addr four;

	if (!strcasecmp(host, "localhost") || !strcmp(host, "[::1]"))
		return true;
	return inet_pton(AF_INET, host, &four) == 1 && ntohl(four.s_addr) >> 24 == IN_LOOPBACKNET;
}

static int status_of(const struct answering *answering, struct evhttp_request *request)
{
	const enum evhttp_cmd_type method = evhttp_request_get_command(request);
	const char *host = evhttp_request_get_host(request);

	if (answering->local && host && !is_local(host))
		return 403;
	if (method != EVHTTP_REQ_GET && method != EVHTTP_REQ_HEAD)
		return 405;
	return answering->plain.segment && answering->open.segment ? 200 : 503;
}

static const char *words_of(int status)
{
	switch (status) {
	case 403:
		return "Host must be localhost or this address";
	case 405:
		return "Only GET and HEAD";
	default:
		return "No interval is over yet";
	}
}

static void send_text(struct evhttp_request *request, const struct answer_text *text,
		      const char *type)
{
	struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
	char size[24];

	snprintf(size, sizeof(size), "%zu", text->size);
	evhttp_add_header(headers, "Content-Type", type);
	evhttp_add_header(headers, "Content-Length", size);
	evhttp_add_header(headers, "Connection", "close");
	if (evhttp_request_get_command(request) == EVHTTP_REQ_GET &&
	    evbuffer_add_file_segment(evhttp_request_get_output_buffer(request), text->segment, 0,
				      -1))
		evhttp_send_error(request, 503, "No memory");
	else
		evhttp_send_reply(request, 200, "OK", NULL);
}

static void respond(struct evhttp_request *request, void *arg)
{
	struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
	const struct answering *answering = arg;
	const int status = status_of(answering, request);
	const char *accept =
		evhttp_find_header(evhttp_request_get_input_headers(request), "Accept");

	if (status == 405)
		evhttp_add_header(headers, "Allow", "GET, HEAD");
	if (status != 200)
		evhttp_send_error(request, status, words_of(status));
	else if (accept && strstr(accept, "application/openmetrics-text"))
		send_text(request, &answering->open,
			  "application/openmetrics-text; version=1.0.0; charset=utf-8");
	else
		send_text(request, &answering->plain, "text/plain; version=0.0.4; charset=utf-8");
}

/* ---- connections ---- */

/* Ends a connection: libevent takes this for the client's end, and closes it. */
static void let_go(struct connection *connection)
{
	if (!connection->buffers)
		return;
	evtimer_del(connection->limit);
	shutdown(bufferevent_getfd(connection->buffers), SHUT_RDWR);
	bufferevent_decref(connection->buffers);
	connection->buffers = NULL;
}

static void on_limit(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	let_go(arg);
}

/* Called for each client; libevent sets the descriptor. */
static struct bufferevent *let_in(struct event_base *base, void *arg)
{
	struct answering *answering = arg;
	struct connection *connection = &answering->connections[answering->next];

	answering->next = (answering->next + 1) % CONNECTIONS;
	let_go(connection);
	connection->buffers = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
	if (connection->buffers) {
		bufferevent_incref(connection->buffers);
		evtimer_add(connection->limit, &connection_time);
	}
	return connection->buffers;
}

/* ---- the process ---- */

static void set_text(struct answer_text *text, int file, size_t at, size_t size)
{
	/* responses under way keep the old one */
	if (text->segment)
		evbuffer_file_segment_free(text->segment);
	text->segment = evbuffer_file_segment_new(file, (ev_off_t)at, (ev_off_t)size,
						  EVBUF_FS_CLOSE_ON_FREE);
	text->size = size;
	if (!text->segment)
		close(file);
}

static void take_texts(evutil_socket_t fd, short what, void *arg)
{
	struct answering *answering = arg;
	struct given given;
	size_t count = 1;
	int file;
	const ssize_t got = peer_take(fd, &file, &count, &given, sizeof(given), MSG_DONTWAIT);

	(void)what;
	if (got == -EAGAIN)
		return;
	if (got != sizeof(given) || !count) { /* the reader has ended */
		event_base_loopbreak(answering->base);
		return;
	}
	set_text(&answering->plain, dup(file), 0, given.plain);
	set_text(&answering->open, file, given.plain, given.open);
}

static void on_log(int severity, const char *text)
{
	(void)severity;
	log_debug("libevent: %s", text);
}

static struct evhttp *open_http(struct answering *answering)
{
	struct evhttp *http = evhttp_new(answering->base);

	if (!http)
		return NULL;
	evhttp_set_max_headers_size(http, REQUEST_MOST);
	evhttp_set_max_body_size(http, 0);
	evhttp_set_allowed_methods(http, UINT16_MAX); /* respond() refuses others */
	evhttp_set_timeout(http, (int)connection_time.tv_sec);
	evhttp_set_bevcb(http, let_in, answering);
	evhttp_set_cb(http, "/metrics", respond, answering);
	return evhttp_accept_socket(http, LISTENER) ? NULL : http;
}

/* Returns at the end of the reader only. Nothing is freed: the process ends. */
static void answer(bool local)
{
	struct answering answering = { .base = event_base_new(), .local = local };
	struct event *channel;

	event_set_log_callback(on_log);
	if (!answering.base || !open_http(&answering))
		return;
	for (int i = 0; i < CONNECTIONS; i++)
		answering.connections[i].limit =
			evtimer_new(answering.base, on_limit, &answering.connections[i]);
	channel = event_new(answering.base, CHANNEL, EV_READ | EV_PERSIST, take_texts, &answering);
	if (channel && !event_add(channel, NULL))
		event_base_dispatch(answering.base);
}

int answer_start(const struct listener *listener)
{
	pid_t pid;
	int end;

	fflush(NULL);
	end = peer_fork(SOCK_SEQPACKET, &pid);
	if (end < 0) {
		log_error("cannot serve: %s", strerror(-end));
		return end;
	}
	if (!pid) {
		/* the first one gets the lower number, so that neither overwrites the other */
		const int channel = dup(end), asked = dup(listener->fd);

		dup2(channel, CHANNEL);
		dup2(asked, LISTENER);
		syscall(SYS_close_range, STDERR_FILENO + 1, ~0u, 0);
		confine_to_answers();
		answer(listener->local);
		_exit(0);
	}
	return end;
}

static int write_texts(int file, struct given *given, int (*write)(void *arg, bool open, FILE *out),
		       void *arg)
{
	FILE *out = fdopen(dup(file), "w");
	long size;
	int err;

	if (!out)
		return -ENOMEM;
	err = write(arg, false, out);
	size = ftell(out);
	given->plain = (size_t)size;
	if (!err)
		err = write(arg, true, out);
	given->open = (size_t)(ftell(out) - size);
	if (fclose(out) && !err)
		err = -errno;
	return err;
}

int answer_give(int fd, int (*write)(void *arg, bool open, FILE *out), void *arg)
{
	struct given given;
	const int file = memfd_create("ucxbpf-metrics", MFD_CLOEXEC);
	int err = file < 0 ? -errno : write_texts(file, &given, write, arg);
	ssize_t sent;

	if (!err) {
		sent = peer_send(fd, &file, 1, &(struct iovec){ &given, sizeof(given) }, 1,
				 MSG_DONTWAIT);
		err = sent < 0 ? (int)sent : 0;
	}
	if (file >= 0)
		close(file);
	return err;
}
