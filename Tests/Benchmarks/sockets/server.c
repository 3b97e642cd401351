/*
 * What the clients of ci/measure/transport talk to. It listens on a free port of 127.0.0.1 and prints it; then
 *
 *   feed BYTES MESSAGES    sends each client, one after the other, so many text messages as fast as it reads;
 *   flood BYTES SECONDS    sends one client as many as it reads, a ping now and then, and prints how long the pongs took;
 *   hold                   keeps all clients; prints what there was to see for each line of its input, and ends with that.
 *
 * Usage: server [CERTIFICATE KEY] feed|flood|hold ...
 */
#define _GNU_SOURCE
#include "hold.h"
#include "peer.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BLOCK = 256 * 1024, CHUNK = 16 * 1024, SEND_BUFFER = 32 * 1024, PING_EVERY_MS = 50, EXIT_USAGE = 2 };

static struct peer *wait_for_client(int listener, SSL_CTX *tls)
{
	struct peer *peer;
	while (!(peer = peer_accept(listener, tls))) {
		struct pollfd wanted = { .fd = listener, .events = POLLIN };
		poll(&wanted, 1, -1);
	}
	int result;
	while ((result = peer_open(peer)) == NOTHING_YET) peer_wait(peer, false, 1000);
	errno = EPROTO;
	if (result == ENDED) fail("the client hung up");
	return peer;
}

/* Fills a block with messages, no more than `limit`; returns their number and the block's size. */
static long fill(unsigned char *block, size_t room, size_t bytes, long limit, size_t *size)
{
	static const char text[] = "{\"event\":\"tick\",\"channel\":\"bench\",\"data\":\"{\\\"price\\\":104.25,\\\"s\\\":\\\"";
	char *message = malloc(bytes);
	long count = 0;
	memset(message, 'A', bytes);
	memcpy(message, text, bytes < sizeof text - 1 ? bytes : sizeof text - 1);
	*size = 0;
	while (count < limit && (count == 0 || *size + bytes + 4 <= room)) {
		*size += put_frame(block + *size, TEXT, message, bytes);
		count++;
	}
	free(message);
	return count;
}

static void wait_for_end(struct peer *peer)
{
	char buffer[4096];
	ssize_t count;
	while ((count = peer_read(peer, buffer, sizeof buffer)) != ENDED) {
		if (count == NOTHING_YET) peer_wait(peer, false, 1000);
	}
	peer_free(peer);
}

static void send_close(struct peer *peer)
{
	unsigned char frame[8];
	peer_write_all(peer, frame, put_frame(frame, CLOSE, "\x03\xe8", 2));
	wait_for_end(peer);
}

static void feed(int listener, SSL_CTX *tls, size_t bytes, long messages)
{
	unsigned char *block = malloc(BLOCK + bytes + 4);
	for (;;) {
		struct peer *peer = wait_for_client(listener, tls);
		size_t size;
		for (long left = messages; left > 0;) {
			left -= fill(block, BLOCK, bytes, left, &size);
			peer_write_all(peer, block, size);
		}
		send_close(peer);
	}
}

static int by_size(const void *left, const void *right)
{
	double difference = *(const double *)left - *(const double *)right;
	return (difference > 0) - (difference < 0);
}

/*
 * What is measured: the time from when the kernel took the whole ping to when its pong was read here.
 *
 * The server's own buffer is kept small, so that what stands before the ping there is little: SEND_BUFFER doubled, which a
 * client that reads at all takes in well under a millisecond. What stands before it in the client's own buffer counts: how
 * much a client lets wait there is part of how late it answers. So do the turns that this process waits for the CPU, which
 * makes the figure an upper bound. Each ping carries its number; the next is sent when it is time, also if the one before
 * wasn't answered: those that never were count with the time that they had.
 */
static void flood(int listener, SSL_CTX *tls, size_t bytes, double seconds)
{
	int size = SEND_BUFFER;
	setsockopt(listener, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
	struct peer *peer = wait_for_client(listener, tls);
	unsigned char *block = malloc(CHUNK + bytes + 4), input[4096], ping[8];
	size_t block_size;
	long in_block = fill(block, CHUNK, bytes, CHUNK, &block_size), messages = 0, pings = 0, pongs = 0;
	long capacity = (long)(seconds * 1000 / PING_EVERY_MS) + 2;
	double *delays = calloc((size_t)capacity, sizeof *delays), *sent_at = calloc((size_t)capacity, sizeof *sent_at);
	double began = now(), next_ping = began + PING_EVERY_MS / 1e3;
	while (now() < began + seconds) {
		/* Whole frames only, so that the ping stands between two. */
		for (size_t sent = 0; sent < block_size;) {
			ssize_t count = peer_write(peer, block + sent, block_size - sent);
			errno = EPIPE;
			if (count == ENDED) fail("the client hung up under the flood");
			if (count == NOTHING_YET) peer_wait(peer, true, 100);
			else sent += (size_t)count;
			/* Pongs come while the block waits for room; masked frames of 6 bytes and 2 of payload, one or many. */
			while ((count = peer_read(peer, input, sizeof input)) > 0) {
				double time = now();
				for (ssize_t at = 0; at + 8 <= count && (input[at] & 0x0F) == PONG; at += 8) {
					unsigned number = (unsigned)((input[at + 6] ^ input[at + 2]) << 8 | (input[at + 7] ^ input[at + 3]));
					if (number < pings) delays[number] = time - sent_at[number];
					pongs++;
				}
			}
		}
		messages += in_block;
		if (now() >= next_ping && pings < capacity) {
			unsigned char number[] = { (unsigned char)(pings >> 8), (unsigned char)pings };
			peer_write_all(peer, ping, put_frame(ping, PING, number, sizeof number));
			sent_at[pings++] = now();
			next_ping += PING_EVERY_MS / 1e3;
		}
	}
	double end = now();
	for (long index = 0; index < pings; index++) {
		if (delays[index] == 0) delays[index] = end - sent_at[index];
	}
	if (pongs < pings) pings--; /* The last had no time. */
	qsort(delays, (size_t)pings, sizeof *delays, by_size);
	printf("{\"messages\":%ld,\"seconds\":%.3f,\"pings\":%ld,\"pongs\":%ld,\"median_ms\":%.3f,\"most_ms\":%.3f}\n", messages,
		end - began, pings, pongs, delays[pings / 2] * 1e3, delays[pings - 1] * 1e3);
	fflush(stdout);
	send_close(peer);
}

int main(int count, char **arguments)
{
	SSL_CTX *tls = NULL;
	if (count >= 4 && strchr(arguments[1], '/')) {
		tls = peer_tls(arguments[1], arguments[2]);
		arguments += 2;
		count -= 2;
	}
	const char *mode = count >= 2 ? arguments[1] : "";
	if (strcmp(mode, "feed") == 0 && count == 4) {
		feed(peer_listen(tls), tls, (size_t)atol(arguments[2]), atol(arguments[3]));
	} else if (strcmp(mode, "flood") == 0 && count == 4) {
		flood(peer_listen(tls), tls, (size_t)atol(arguments[2]), atof(arguments[3]));
	} else if (strcmp(mode, "hold") == 0 && count == 2) {
		hold(peer_listen(tls), tls);
	} else {
		fprintf(stderr, "usage: server [CERTIFICATE KEY] feed BYTES MESSAGES | flood BYTES SECONDS | hold\n");
		return EXIT_USAGE;
	}
	return EXIT_SUCCESS;
}
