/*
 * What libwebsockets alone costs: a client on its WebSocket role that subscribes as a Channels client does, waits for `begin`,
 * counts so many messages and looks at nothing in them (or, of a feed with --pace, at the time). A mark to measure the client against: the same buffers, the same feed,
 * the same line of results.
 *
 * Usage: bare-libwebsockets PORT CERTIFICATE|- EVENTS [paced]
 */
#define _GNU_SOURCE
#include <libwebsockets.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "../channels/latency.h"

enum { READ_SIZE = 65536, EXIT_FEED_ENDED = 1, EXIT_USAGE = 2 };

struct usage {
	double seconds, cpu_seconds;
};

static struct {
	struct usage began;
	long events, wanted;
	double *times; /* how many microseconds each event of a paced feed took */
	bool has_begun, wants_to_subscribe, is_done, has_failed;
} client;

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

/* Not getrusage's, which begins with what the process that started this one had. */
static long peak_resident_kib(void)
{
	char line[256];
	long peak = 0;
	FILE *status = fopen("/proc/self/status", "r");
	if (!status) return 0;
	while (fgets(line, sizeof line, status) && sscanf(line, "VmHWM: %ld", &peak) != 1) {}
	fclose(status);
	return peak;
}

static void report(void)
{
	struct usage now = usage_now();
	printf("{\"events\":%ld,\"seconds\":%.6f,\"cpu_seconds\":%.6f,\"peak_rss_kib\":%ld", client.events,
		now.seconds - client.began.seconds, now.cpu_seconds - client.began.cpu_seconds, peak_resident_kib());
	if (client.times) print_times(client.times, client.events);
	printf("}\n");
}

static bool contains(const void *message, size_t length, const char *text)
{
	return memmem(message, length, text, strlen(text)) != NULL;
}

/* A whole message came. */
static void received(struct lws *wsi, const void *message, size_t length)
{
	if (client.has_begun) {
		if (client.times) client.times[client.events] = microseconds_since_sent(message, length);
		if (++client.events < client.wanted) return;
		client.is_done = true;
		report();
		lws_close_reason(wsi, LWS_CLOSE_STATUS_NORMAL, NULL, 0);
	} else if (contains(message, length, "connection_established")) {
		client.wants_to_subscribe = true;
		lws_callback_on_writable(wsi);
	} else if (contains(message, length, "\"begin\"")) {
		client.has_begun = true;
		client.began = usage_now();
	}
}

static int subscribe(struct lws *wsi)
{
	static const char text[] = "{\"event\":\"pusher:subscribe\",\"data\":{\"channel\":\"bench\"}}";
	unsigned char buffer[LWS_PRE + sizeof text];
	memcpy(buffer + LWS_PRE, text, sizeof text - 1);
	return lws_write(wsi, buffer + LWS_PRE, sizeof text - 1, LWS_WRITE_TEXT) < 0 ? -1 : 0;
}

static int callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t length)
{
	(void)user;
	switch (reason) {
	case LWS_CALLBACK_CLIENT_RECEIVE:
		/* What doesn't fit the buffer comes in pieces: the last of them stands for the message. */
		if (lws_is_final_fragment(wsi) && lws_remaining_packet_payload(wsi) == 0) received(wsi, in, length);
		return client.is_done ? -1 : 0;
	case LWS_CALLBACK_CLIENT_WRITEABLE:
		if (!client.wants_to_subscribe) return 0;
		client.wants_to_subscribe = false;
		return subscribe(wsi);
	case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
		fprintf(stderr, "bare-libwebsockets: %s\n", in ? (const char *)in : "can't connect");
		client.has_failed = true;
		return 0;
	case LWS_CALLBACK_CLIENT_CLOSED:
		if (!client.is_done) fprintf(stderr, "bare-libwebsockets: the connection ended after %ld events\n", client.events);
		client.has_failed = true;
		return 0;
	default:
		return 0;
	}
}

int main(int count, char **arguments)
{
	if (count != 4 && count != 5) {
		fprintf(stderr, "usage: bare-libwebsockets PORT CERTIFICATE|- EVENTS [paced]\n");
		return EXIT_USAGE;
	}
	bool uses_tls = strcmp(arguments[2], "-") != 0;
	client.wanted = atol(arguments[3]);
	if (count == 5) client.times = calloc((size_t)client.wanted, sizeof *client.times);
	const struct lws_protocols protocols[] = {
		{ .name = "bench", .callback = callback, .rx_buffer_size = READ_SIZE },
		{ .name = NULL },
	};
	lws_set_log_level(0, NULL);
	struct lws_context_creation_info info = {
		.port = CONTEXT_PORT_NO_LISTEN,
		.protocols = protocols,
		.pt_serv_buf_size = READ_SIZE,
		.fd_limit_per_thread = 64,
		.options = LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT,
		.client_ssl_ca_filepath = uses_tls ? arguments[2] : NULL,
	};
	struct lws_context *context = lws_create_context(&info);
	if (!context) return EXIT_FEED_ENDED;
	struct lws_client_connect_info connection = {
		.context = context,
		.address = "127.0.0.1",
		.host = "localhost",
		.port = atoi(arguments[1]),
		.path = "/app/local-key?protocol=7&client=bare-libwebsockets&version=0",
		.local_protocol_name = "bench",
		.ssl_connection = uses_tls ? LCCSCF_USE_SSL : 0,
	};
	if (!lws_client_connect_via_info(&connection)) client.has_failed = true;
	/* Ends with the close of the connection, so that the feed gets its closing handshake. */
	while (!client.has_failed) lws_service(context, 0);
	lws_context_destroy(context);
	return client.is_done ? EXIT_SUCCESS : EXIT_FEED_ENDED;
}
