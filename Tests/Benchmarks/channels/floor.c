/*
 * What there is to do for an event and nothing more: a socket that is read 64 KiB at a time, frame by frame. The floor of
 * ci/measure/bench.
 *
 *   receive EVENTS      subscribes, counts the events and touches each line of their payload in the cache
 *   paced EVENTS        the same of a feed with --pace, and how long each took
 *   send EVENTS BYTES   sends client events until the feed says that all have come
 *   pair TRIPS          two connections: an event from one to the other and back, so many times
 *
 * Usage: floor PORT CERTIFICATE|- receive|paced|send|pair ...
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "latency.h"

enum { READ_SIZE = 65536, LINE = 64, EXIT_USAGE = 2 };

struct connection {
	int fd;
	SSL *tls;
	unsigned char buffer[READ_SIZE];
	size_t start, end; /* what was read and not looked at */
};

struct usage {
	double seconds, cpu_seconds;
};

static unsigned sum; /* of what was touched, so that it can't be left out */

static struct usage usage_now(void)
{
	struct timespec time;
	struct rusage used;
	clock_gettime(CLOCK_MONOTONIC, &time);
	getrusage(RUSAGE_SELF, &used);
	return (struct usage){
		.seconds = time.tv_sec + time.tv_nsec / 1e9,
		.cpu_seconds = used.ru_utime.tv_sec + used.ru_stime.tv_sec + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6,
	};
}

/* `times`: how many microseconds each event took; NULL if nobody measured that. */
static void report(struct usage began, long events, double *times)
{
	struct usage ended = usage_now();
	printf("{\"events\":%ld,\"seconds\":%.6f,\"cpu_seconds\":%.6f,\"sum\":%u", events, ended.seconds - began.seconds,
		ended.cpu_seconds - began.cpu_seconds, sum);
	if (times) print_times(times, events);
	printf("}\n");
}

static void fail(const char *what)
{
	fprintf(stderr, "floor: %s\n", what);
	exit(EXIT_FAILURE);
}

static void write_all(struct connection *connection, const void *bytes, size_t size)
{
	for (size_t sent = 0; sent < size;) {
		const char *rest = (const char *)bytes + sent;
		ssize_t count = connection->tls ? SSL_write(connection->tls, rest, (int)(size - sent)) : send(connection->fd, rest, size - sent, 0);
		if (count <= 0) fail("can't write");
		sent += (size_t)count;
	}
}

/* Reads more into an empty buffer. */
static void fill(struct connection *connection)
{
	ssize_t count = connection->tls ? SSL_read(connection->tls, connection->buffer, READ_SIZE)
		: recv(connection->fd, connection->buffer, READ_SIZE, 0);
	if (count <= 0) fail("the feed hung up");
	connection->start = 0;
	connection->end = (size_t)count;
}

static unsigned char next_byte(struct connection *connection)
{
	if (connection->start == connection->end) fill(connection);
	return connection->buffer[connection->start++];
}

/* Reads one frame, whatever reads it comes in, and touches its payload. */
static void take_frame(struct connection *connection)
{
	next_byte(connection);
	size_t left = next_byte(connection) & 0x7F;
	int more = left == 126 ? 2 : left == 127 ? 8 : 0;
	if (more) left = 0;
	while (more--) left = left << 8 | next_byte(connection);
	while (left) {
		if (connection->start == connection->end) fill(connection);
		size_t piece = connection->end - connection->start < left ? connection->end - connection->start : left;
		for (size_t index = 0; index < piece; index += LINE) sum += connection->buffer[connection->start + index];
		connection->start += piece;
		left -= piece;
	}
}

static void send_text(struct connection *connection, const char *text, size_t size)
{
	static const unsigned char mask[4] = { 0x12, 0x34, 0x56, 0x78 };
	unsigned char frame[size + 8];
	size_t head = size < 126 ? 2 : 4;
	frame[0] = 0x81;
	frame[1] = 0x80 | (size < 126 ? (unsigned char)size : 126);
	if (head == 4) {
		frame[2] = (unsigned char)(size >> 8);
		frame[3] = (unsigned char)size;
	}
	memcpy(frame + head, mask, sizeof mask);
	for (size_t index = 0; index < size; index++) frame[head + 4 + index] = (unsigned char)text[index] ^ mask[index % 4];
	write_all(connection, frame, head + 4 + size);
}

/* Connects and subscribes: returns when that is confirmed. */
static struct connection *subscribed(const char *port, const char *certificate, const char *channel)
{
	static const char request[] = "GET /app/local-key?protocol=7 HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
		"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
	struct connection *connection = calloc(1, sizeof *connection);
	struct sockaddr_in server = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	server.sin_port = htons((unsigned short)atoi(port));
	connection->fd = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(connection->fd, (struct sockaddr *)&server, sizeof server)) fail("can't connect");
	int on = 1;
	setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	if (strcmp(certificate, "-") != 0) {
		SSL_CTX *context = SSL_CTX_new(TLS_client_method());
		SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
		SSL_CTX_set_read_ahead(context, 1);
		connection->tls = SSL_new(context);
		if (SSL_CTX_load_verify_locations(context, certificate, NULL) != 1 || SSL_set_fd(connection->tls, connection->fd) != 1
			|| SSL_connect(connection->tls) != 1) fail("no TLS");
	}
	write_all(connection, request, sizeof request - 1);
	for (unsigned last = 0; last != 0x0D0A0D0A;) last = last << 8 | next_byte(connection);
	take_frame(connection); /* pusher:connection_established */
	char text[256];
	int size = snprintf(text, sizeof text, "{\"event\":\"pusher:subscribe\",\"data\":{\"channel\":\"%s\",\"auth\":\"k:s\"}}", channel);
	send_text(connection, text, (size_t)size);
	take_frame(connection); /* pusher_internal:subscription_succeeded */
	return connection;
}

static void receive(struct connection *connection, long events)
{
	take_frame(connection); /* begin */
	struct usage began = usage_now();
	for (long count = 0; count < events; count++) take_frame(connection);
	take_frame(connection); /* done */
	report(began, events, NULL);
}

static void receive_paced(struct connection *connection, long events)
{
	double *times = calloc((size_t)events, sizeof *times);
	take_frame(connection); /* begin */
	struct usage began = usage_now();
	for (long count = 0; count < events; count++) {
		size_t start = connection->start == connection->end ? 0 : connection->start;
		take_frame(connection);
		times[count] = microseconds_since_sent(connection->buffer + start, connection->end - start);
	}
	report(began, events, times);
}

static void send_events(struct connection *connection, long events, size_t bytes)
{
	char text[bytes + 256];
	size_t size = (size_t)sprintf(text, "{\"event\":\"client-tick\",\"channel\":\"private-bench\",\"data\":{\"s\":\"");
	while (size + 3 < bytes) text[size++] = 'x';
	size += (size_t)sprintf(text + size, "\"}}");
	struct usage began = usage_now();
	for (long count = 0; count < events; count++) send_text(connection, text, size);
	take_frame(connection); /* done */
	report(began, events, NULL);
}

static void play(struct connection *here, struct connection *there, long trips)
{
	static const char ball[] = "{\"event\":\"client-ball\",\"channel\":\"private-bench\",\"data\":{\"n\":1}}";
	double *times = calloc((size_t)trips, sizeof *times);
	struct usage began = usage_now();
	for (long trip = 0; trip < trips; trip++) {
		double start = usage_now().seconds;
		send_text(here, ball, sizeof ball - 1);
		take_frame(there);
		send_text(there, ball, sizeof ball - 1);
		take_frame(here);
		times[trip] = (usage_now().seconds - start) * 1e6;
	}
	double cpu = usage_now().cpu_seconds - began.cpu_seconds;
	printf("{\"events\":%ld,\"cpu_seconds\":%.6f", trips, cpu);
	print_times(times, trips);
	printf("}\n");
}

int main(int count, char **arguments)
{
	const char *mode = count > 4 ? arguments[3] : "", *port = arguments[1], *certificate = arguments[2];
	bool receives = strcmp(mode, "receive") == 0 && count == 5, sends = strcmp(mode, "send") == 0 && count == 6;
	bool is_paced = strcmp(mode, "paced") == 0 && count == 5;
	bool plays = strcmp(mode, "pair") == 0 && count == 5;
	if (!receives && !is_paced && !sends && !plays) {
		fprintf(stderr, "usage: floor PORT CERTIFICATE|- receive EVENTS | paced EVENTS | send EVENTS BYTES | pair TRIPS\n");
		return EXIT_USAGE;
	}
	long number = atol(arguments[4]);
	struct connection *connection = subscribed(port, certificate, receives || is_paced ? "bench" : "private-bench");
	if (receives) receive(connection, number);
	if (is_paced) receive_paced(connection, number);
	if (sends) send_events(connection, number, strtoul(arguments[5], NULL, 10));
	if (plays) play(connection, subscribed(port, certificate, "private-bench"), number);
	return EXIT_SUCCESS;
}
