/*
 * What the kernel and OpenSSL take of a message by themselves: reads the feed of `server feed` as bytes, 64 KiB at a time like
 * the socket, looks at none of them, and prints what that cost.
 *
 * Usage: reader PORT CERTIFICATE|- BYTES MESSAGES
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { READ_SIZE = 65536, EXIT_USAGE = 2 };

static int fd;
static SSL *tls;

static double cpu_now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static void start_tls(const char *certificate)
{
	SSL_CTX *context = SSL_CTX_new(TLS_client_method());
	SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
	SSL_CTX_set_read_ahead(context, 1);
	tls = SSL_new(context);
	if (SSL_CTX_load_verify_locations(context, certificate, NULL) != 1 || SSL_set_fd(tls, fd) != 1 || SSL_connect(tls) != 1) {
		exit(EXIT_FAILURE);
	}
}

static ssize_t read_some(char *buffer, size_t size)
{
	/* Waits first, as an event loop does. */
	struct pollfd wanted = { .fd = fd, .events = POLLIN };
	if (!tls || !SSL_has_pending(tls)) poll(&wanted, 1, -1);
	return tls ? SSL_read(tls, buffer, (int)size) : recv(fd, buffer, size, 0);
}

int main(int count, char **arguments)
{
	static char buffer[READ_SIZE];
	static const char request[] = "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
	if (count != 5) {
		fprintf(stderr, "usage: reader PORT CERTIFICATE|- BYTES MESSAGES\n");
		return EXIT_USAGE;
	}
	long bytes = atol(arguments[3]), messages = atol(arguments[4]);
	struct sockaddr_in server = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	server.sin_port = htons((unsigned short)atoi(arguments[1]));
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(fd, (struct sockaddr *)&server, sizeof server)) return EXIT_FAILURE;
	if (strcmp(arguments[2], "-") != 0) start_tls(arguments[2]);
	if (tls) SSL_write(tls, request, sizeof request - 1);
	else if (send(fd, request, sizeof request - 1, 0) < 0) return EXIT_FAILURE;

	double began = cpu_now();
	long left = messages * (bytes + (bytes < 126 ? 2 : 4));
	while (left > 0) {
		ssize_t size = read_some(buffer, sizeof buffer);
		if (size <= 0) return EXIT_FAILURE;
		left -= size;
	}
	printf("{\"messages\":%ld,\"cpu_seconds\":%.6f}\n", messages, cpu_now() - began);
	return EXIT_SUCCESS;
}
