#define _GNU_SOURCE
#include "hold.h"
#include "peer.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { EVENTS = 256, PING_EVERY_US = 1000, PATIENCE_MS = 100 };

static struct {
	int epoll;
	long open, under_way, most_under_way;
	atomic_long pings;
	_Atomic double longest_wait;
} held;

/* Whether small masked frames, one after the other, hold one of that sort. */
static bool has_frame(int opcode, const unsigned char *bytes, ssize_t size)
{
	for (ssize_t at = 0; at + 6 <= size; at += 6 + (bytes[at + 1] & 0x7F)) {
		if ((bytes[at] & 0x0F) == opcode) return true;
	}
	return false;
}

/* Pings one client and waits for the pong, over and over. */
static void *ping(void *argument)
{
	struct peer *peer = argument;
	unsigned char frame[8], input[256];
	size_t size = put_frame(frame, PING, "hi", 2);
	ssize_t count = NOTHING_YET;
	while (count != ENDED) {
		double sent_at = now();
		peer_write_all(peer, frame, size);
		while ((count = peer_read(peer, input, sizeof input)) == NOTHING_YET) peer_wait(peer, false, PATIENCE_MS);
		double wait = now() - sent_at;
		if (has_frame(CLOSE, input, count)) break;
		if (wait > held.longest_wait) held.longest_wait = wait;
		held.pings++;
		usleep(PING_EVERY_US);
	}
	peer_write_all(peer, frame, put_frame(frame, CLOSE, "\x03\xe8", 2));
	while ((count = peer_read(peer, input, sizeof input)) != ENDED) peer_wait(peer, false, PATIENCE_MS);
	peer_free(peer);
	return NULL;
}

static void accept_all(int listener, SSL_CTX *tls)
{
	struct peer *peer;
	while ((peer = peer_accept(listener, tls))) {
		struct epoll_event event = { .events = EPOLLIN, .data.ptr = peer };
		epoll_ctl(held.epoll, EPOLL_CTL_ADD, peer->fd, &event);
		if (++held.under_way > held.most_under_way) held.most_under_way = held.under_way;
	}
}

static void end(struct peer *peer)
{
	if (peer->is_open) held.open--;
	else held.under_way--;
	peer_free(peer);
}

/* The first leaves for a thread of its own. */
static void opened(struct peer *peer)
{
	static bool is_pinging;
	held.under_way--;
	held.open++;
	if (is_pinging) return;
	pthread_t thread;
	epoll_ctl(held.epoll, EPOLL_CTL_DEL, peer->fd, NULL);
	pthread_create(&thread, NULL, ping, peer);
	pthread_detach(thread);
	is_pinging = true;
}

static void readable(struct peer *peer)
{
	unsigned char input[1024], answer[8];
	if (!peer->is_open) {
		int result = peer_open(peer);
		if (result == ENDED) end(peer);
		else if (result == 1) opened(peer);
		return;
	}
	ssize_t count = peer_read(peer, input, sizeof input);
	if (count == NOTHING_YET) return;
	/* A client has nothing to say but goodbye, in one piece. */
	if (count > 0 && !has_frame(CLOSE, input, count)) return;
	if (count > 0) peer_write_all(peer, answer, put_frame(answer, CLOSE, "\x03\xe8", 2));
	end(peer);
}

/* False at the end of the input. */
static bool report(void)
{
	char line[64];
	if (read(STDIN_FILENO, line, sizeof line) <= 0) return false;
	printf("{\"open\":%ld,\"most_under_way\":%ld,\"pings\":%ld,\"longest_wait_ms\":%.3f}\n", held.open,
		held.most_under_way, held.pings, held.longest_wait * 1e3);
	fflush(stdout);
	held.pings = 0;
	held.longest_wait = 0;
	held.most_under_way = held.under_way;
	return true;
}

void hold(int listener, SSL_CTX *tls)
{
	struct epoll_event events[EVENTS];
	held.epoll = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event for_listener = { .events = EPOLLIN }, for_input = { .events = EPOLLIN, .data.ptr = &held };
	epoll_ctl(held.epoll, EPOLL_CTL_ADD, listener, &for_listener);
	if (epoll_ctl(held.epoll, EPOLL_CTL_ADD, STDIN_FILENO, &for_input)) fail("can't watch the input");
	for (;;) {
		int count = epoll_wait(held.epoll, events, EVENTS, -1);
		/* First those who came, so that the others don't hide how many there are. */
		accept_all(listener, tls);
		for (int index = 0; index < count; index++) {
			void *data = events[index].data.ptr;
			if (data == &held) {
				if (!report()) return;
			} else if (data) {
				readable(data);
			}
		}
	}
}
