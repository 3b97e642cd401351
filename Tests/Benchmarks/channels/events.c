#define _GNU_SOURCE
#include "events.h"

#include <openssl/evp.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"

enum { FRAME_HEAD = 10, RING_SIZE = 1 << 20 };

static bool begins(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* A text as the content of a JSON string. */
static size_t escape(char *there, const char *text)
{
	char *end = there;
	for (; *text; text++) {
		if (*text == '"' || *text == '\\') *end++ = '\\';
		*end++ = *text;
	}
	*end = 0;
	return (size_t)(end - there);
}

/* What a tick carries, escaped or not; `room` is what the text in it takes. */
static size_t put_data(char *there, size_t number, size_t room)
{
	static const char word[] = "ACMEINTLX";
	size_t size = (size_t)sprintf(there, "{\"n\":%zu,\"price\":%.2f,\"s\":\"", number, (double)(10000 + number * 7919 % 90000) / 100);
	for (size_t index = 0; index < room; index++) there[size++] = word[index % (sizeof word - 1)];
	return size + (size_t)sprintf(there + size, "\"}");
}

static void put_base64(char *there, const unsigned char *bytes, size_t size)
{
	EVP_EncodeBlock((unsigned char *)there, bytes, (int)size);
}

/* What an event of an encrypted channel carries. */
static void seal(char *there, const char *text, size_t number)
{
	size_t size = strlen(text), sealed_size = size + crypto_secretbox_MACBYTES;
	unsigned char nonce[crypto_secretbox_NONCEBYTES] = { 0 }, *sealed = malloc(sealed_size);
	char nonce_text[64], *sealed_text = malloc(sealed_size * 4 / 3 + 8);
	memcpy(nonce, &number, sizeof number);
	crypto_secretbox_easy(sealed, (const unsigned char *)text, size, nonce, (const unsigned char *)SECRET);
	put_base64(nonce_text, nonce, sizeof nonce);
	put_base64(sealed_text, sealed, sealed_size);
	sprintf(there, "{\"nonce\":\"%s\",\"ciphertext\":\"%s\"}", nonce_text, sealed_text);
	free(sealed);
	free(sealed_text);
}

/* Who comes with one event goes with the next. */
static size_t put_member(char *there, const char *channel, size_t number)
{
	static const char *const forms[] = {
		"{\"event\":\"pusher_internal:member_added\",\"channel\":\"%s\","
		"\"data\":\"{\\\"user_id\\\":\\\"guest-%zu\\\",\\\"user_info\\\":{\\\"name\\\":\\\"Guest %zu\\\"}}\"}",
		"{\"event\":\"pusher_internal:member_removed\",\"channel\":\"%s\",\"data\":\"{\\\"user_id\\\":\\\"guest-%zu\\\"}\"}",
	};
	return (size_t)sprintf(there, forms[number % 2], channel, number / 2, number / 2);
}

static size_t put_tick(char *there, const char *channel, size_t number, size_t bytes, size_t room)
{
	bool is_sealed = begins(channel, "private-encrypted-");
	char *data = malloc(bytes + 128), *sealed = malloc(2 * bytes + 512), *escaped = malloc(4 * bytes + 1024);
	put_data(data, number, room);
	if (is_sealed) seal(sealed, data, number);
	escape(escaped, is_sealed ? sealed : data);
	size_t size = (size_t)sprintf(there, "{\"event\":\"tick\",\"channel\":\"%s\",\"data\":\"%s\"}", channel, escaped);
	free(data);
	free(sealed);
	free(escaped);
	return size;
}

/* A sealed event has the bytes that would make that many if it were not sealed. */
size_t put_event(char *there, const char *channel, size_t number, size_t bytes)
{
	if (begins(channel, "presence-")) return put_member(there, channel, number);
	char data[128], escaped[256];
	put_data(data, number, 0);
	size_t least = strlen("{\"event\":\"tick\",\"channel\":\"\",\"data\":\"\"}") + strlen(channel) + escape(escaped, data);
	if (least > bytes) {
		fprintf(stderr, "feed: an event on %s takes %zu bytes\n", channel, least);
		exit(EXIT_FAILURE);
	}
	return put_tick(there, channel, number, bytes, bytes - least);
}

struct ring make_ring(char **channels, size_t spread, size_t bytes, size_t events)
{
	/* No more than what stays in a cache, but every channel has its turn, and of those who came all go. */
	size_t count = RING_SIZE / (bytes + FRAME_HEAD) + 2, step = 2 * spread;
	count = (count + step - 1) / step * step;
	if (count > events) count = events;
	size_t most = 4 * bytes + 1024;
	struct ring ring = { .bytes = malloc(count * (most + FRAME_HEAD)), .ends = calloc(count, sizeof(size_t)), .count = count };
	char *text = malloc(most);
	size_t end = 0;
	for (size_t index = 0; index < count; index++) {
		size_t size = put_event(text, channels[index % spread], index, bytes);
		end += put_frame(ring.bytes + end, TEXT, text, size);
		ring.ends[index] = end;
	}
	free(text);
	return ring;
}

char *make_notice(const char *event, const char *channel)
{
	char sealed[256], data[512] = "{}", *text = malloc(2048);
	if (begins(channel, "private-encrypted-")) {
		seal(sealed, "{}", SIZE_MAX);
		escape(data, sealed);
	}
	snprintf(text, 2048, "{\"event\":\"%s\",\"channel\":\"%s\",\"data\":\"%s\"}", event, channel, data);
	return text;
}

void free_ring(struct ring *ring)
{
	free(ring->bytes);
	free(ring->ends);
}

void send_ring(struct peer *peer, const struct ring *ring, size_t events)
{
	for (; events >= ring->count && ring->count; events -= ring->count) peer_write_all(peer, ring->bytes, ring->ends[ring->count - 1]);
	if (events) peer_write_all(peer, ring->bytes, ring->ends[events - 1]);
}

/* A roster as a server sends it: who is there, twice. */
static size_t put_roster(char *there, size_t members)
{
	size_t size = (size_t)sprintf(there, "{\"presence\":{\"count\":%zu,\"ids\":[", members);
	for (size_t index = 0; index < members; index++) size += (size_t)sprintf(there + size, "%s\"%zu\"", index ? "," : "", index);
	size += (size_t)sprintf(there + size, "],\"hash\":{");
	for (size_t index = 0; index < members; index++) {
		size += (size_t)sprintf(there + size, "%s\"%zu\":{\"name\":\"Member %zu\"}", index ? "," : "", index, index);
	}
	return size + (size_t)sprintf(there + size, "}}}");
}

char *succeeded(const char *channel, size_t members)
{
	char *roster = malloc(members * 64 + 128), *escaped = malloc(members * 96 + 256), *text = malloc(members * 96 + 1024);
	strcpy(roster, "{}");
	if (begins(channel, "presence-")) put_roster(roster, members);
	escape(escaped, roster);
	sprintf(text, "{\"event\":\"pusher_internal:subscription_succeeded\",\"channel\":\"%s\",\"data\":\"%s\"}", channel, escaped);
	free(roster);
	free(escaped);
	return text;
}
