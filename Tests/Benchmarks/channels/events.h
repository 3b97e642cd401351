/*
 * The events that the feed sends: built before they are sent, so that sending them costs as little as can be.
 */
#ifndef EVENTS_H
#define EVENTS_H

#include <stddef.h>

/* The key of encrypted channels, which the client of the benchmark has too. */
#define SECRET "0123456789abcdef0123456789abcdef"

/* Frames in a row that are sent again and again. */
struct ring {
	unsigned char *bytes;
	size_t *ends; /* where each frame ends */
	size_t count;
};

/* At most that many events, in turn for each of the channels; what they are, the first channel's name says: sealed ones, members who
 * come and go, or ticks of exactly that many bytes. */
struct ring make_ring(char **channels, size_t spread, size_t bytes, size_t events);
void free_ring(struct ring *ring);

/* Writes one event of exactly that many bytes, and returns how many it has. */
size_t put_event(char *there, const char *channel, size_t number, size_t bytes);

/* Sends so many of them. */
struct peer;
void send_ring(struct peer *peer, const struct ring *ring, size_t events);

/* An event that carries nothing, for the caller to free. */
char *make_notice(const char *event, const char *channel);

/* The confirmation of a subscription, for the caller to free; with so many members on a presence channel. */
char *succeeded(const char *channel, size_t members);

#endif
