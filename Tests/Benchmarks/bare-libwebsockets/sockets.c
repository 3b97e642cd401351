/*
 * What libwebsockets alone costs, on its WebSocket role: the same as `pusher-channels sockets receive` and `... hold`, with the
 * same lines of results, for ci/measure/transport to compare.
 *
 *   receive MESSAGES       counts messages, and prints what they cost; 0 for as many as come.
 *   hold COUNT AT_ONCE     opens a connection, then so many more, so many at a time; prints the state of the process before
 *                          and after that, and, when its input ends, after they were closed.
 *
 * Usage: sockets PORT CERTIFICATE|- receive|hold ...
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <libwebsockets.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { READ_SIZE = 65536, EXIT_FAILED = 1, EXIT_USAGE = 2 };

static struct {
	struct lws_context *context;
	int port;
	bool uses_tls, is_closing;
	atomic_bool input_ended;
	struct lws **sockets;
	long opened, failed, closed;
	long wanted, messages;
	size_t bytes;
	double began, began_cpu, seconds, cpu_seconds;
} client;

static double clock_now(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static long entries(const char *path)
{
	long count = -2; /* . and .. */
	DIR *directory = opendir(path);
	if (!directory) return 0;
	while (readdir(directory)) count++;
	closedir(directory);
	return count;
}

static void print_state(const char *stage, double seconds)
{
	long pages = 0;
	FILE *statm = fopen("/proc/self/statm", "r");
	if (!statm || fscanf(statm, "%*d %ld", &pages) != 1) pages = 0;
	if (statm) fclose(statm);
	/* One descriptor is that of the directory. */
	printf("{\"stage\":\"%s\",\"seconds\":%.3f,\"resident_kib\":%ld,\"descriptors\":%ld,\"threads\":%ld,\"failed\":%ld}\n", stage,
		seconds, pages * (sysconf(_SC_PAGESIZE) / 1024), entries("/proc/self/fd") - 1, entries("/proc/self/task"),
		client.failed);
	fflush(stdout);
}

static void received(size_t length, bool is_whole)
{
	client.bytes += length;
	if (is_whole && ++client.messages == client.wanted) {
		client.seconds = clock_now(CLOCK_MONOTONIC) - client.began;
		client.cpu_seconds = clock_now(CLOCK_PROCESS_CPUTIME_ID) - client.began_cpu;
	}
}

static int callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t length)
{
	(void)user;
	switch (reason) {
	case LWS_CALLBACK_CLIENT_ESTABLISHED:
		client.opened++;
		client.began = clock_now(CLOCK_MONOTONIC);
		client.began_cpu = clock_now(CLOCK_PROCESS_CPUTIME_ID);
		return 0;
	case LWS_CALLBACK_CLIENT_RECEIVE:
		received(length, lws_is_final_fragment(wsi) && lws_remaining_packet_payload(wsi) == 0);
		return 0;
	case LWS_CALLBACK_CLIENT_WRITEABLE:
		if (!client.is_closing) return 0;
		lws_close_reason(wsi, LWS_CLOSE_STATUS_NORMAL, NULL, 0);
		return -1;
	case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
		if (client.failed++ == 0) fprintf(stderr, "sockets: %s\n", in ? (const char *)in : "can't connect");
		return 0;
	case LWS_CALLBACK_CLIENT_CLOSED:
		client.closed++;
		return 0;
	default:
		return 0;
	}
}

static void make_context(const char *certificate, unsigned int buffer)
{
	static struct lws_protocols protocols[] = { { .name = "bench", .callback = callback }, { .name = NULL } };
	protocols[0].rx_buffer_size = buffer;
	lws_set_log_level(0, NULL);
	struct lws_context_creation_info info = {
		.port = CONTEXT_PORT_NO_LISTEN,
		.protocols = protocols,
		.pt_serv_buf_size = buffer,
		.options = LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT,
		.client_ssl_ca_filepath = client.uses_tls ? certificate : NULL,
	};
	client.context = lws_create_context(&info);
	if (!client.context) exit(EXIT_FAILED);
}

static void connect_next(long index)
{
	struct lws_client_connect_info connection = {
		.context = client.context,
		.address = "127.0.0.1",
		.host = "localhost",
		.port = client.port,
		.path = "/",
		.local_protocol_name = "bench",
		.ssl_connection = client.uses_tls ? LCCSCF_USE_SSL : 0,
		.pwsi = &client.sockets[index],
	};
	lws_client_connect_via_info(&connection);
}

/* The cost is that from the opening to the last message that was asked for. */
static int receive(long messages)
{
	client.wanted = messages;
	connect_next(0);
	while (client.closed + client.failed == 0) lws_service(client.context, 0);
	printf("{\"messages\":%ld,\"seconds\":%.3f,\"cpu_seconds\":%.6f}\n", client.messages, client.seconds, client.cpu_seconds);
	return client.messages >= messages ? EXIT_SUCCESS : EXIT_FAILED;
}

static void open_up_to(long count, long at_once)
{
	long started = client.opened + client.failed;
	while (client.opened + client.failed < count) {
		while (started < count && started < client.opened + client.failed + at_once) connect_next(started++);
		lws_service(client.context, 0);
	}
}

static void *wait_for_input(void *unused)
{
	char byte;
	while (read(STDIN_FILENO, &byte, 1) > 0) {}
	client.input_ended = true;
	lws_cancel_service(client.context);
	return unused;
}

static int hold(long count, long at_once)
{
	pthread_t thread;
	pthread_create(&thread, NULL, wait_for_input, NULL);
	open_up_to(1, 1);
	print_state("before", 0);
	double began = clock_now(CLOCK_MONOTONIC);
	open_up_to(count + 1, at_once);
	print_state("open", clock_now(CLOCK_MONOTONIC) - began);
	while (!client.input_ended) lws_service(client.context, 0);
	client.is_closing = true;
	for (long index = 0; index <= count; index++) {
		if (client.sockets[index]) lws_callback_on_writable(client.sockets[index]);
	}
	began = clock_now(CLOCK_MONOTONIC);
	while (client.closed < client.opened && clock_now(CLOCK_MONOTONIC) < began + 30) lws_service(client.context, 0);
	pthread_join(thread, NULL);
	print_state("closed", clock_now(CLOCK_MONOTONIC) - began);
	return client.closed == client.opened ? EXIT_SUCCESS : EXIT_FAILED;
}

int main(int count, char **arguments)
{
	const char *mode = count >= 5 ? arguments[3] : "";
	bool receives = strcmp(mode, "receive") == 0 && count == 5, holds = strcmp(mode, "hold") == 0 && count == 6;
	if (!receives && !holds) {
		fprintf(stderr, "usage: sockets PORT CERTIFICATE|- receive MESSAGES | hold COUNT AT_ONCE\n");
		return EXIT_USAGE;
	}
	long number = atol(arguments[4]);
	client.port = atoi(arguments[1]);
	client.uses_tls = strcmp(arguments[2], "-") != 0;
	client.sockets = calloc((size_t)(holds ? number : 0) + 1, sizeof *client.sockets);
	/* To receive, as large a buffer as anybody would give it; to hold many, what it takes by itself. */
	make_context(arguments[2], receives ? READ_SIZE : 0);
	int status = receives ? receive(number) : hold(number, atol(arguments[5]));
	lws_context_destroy(client.context);
	free(client.sockets);
	return status;
}
