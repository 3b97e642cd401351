/*
 * A Channels server that sends events as fast as they are taken: what ci/measure/bench measures clients against, its own included.
 *
 * It listens on 127.0.0.1, prints its address, and serves any number of connections until it is ended. It confirms every
 * subscription; after the last that it waits for it sends `begin` on the first channel that has "bench" in its name, is silent
 * for a moment, so that the client has done all that belongs to subscribing, then sends the events to such channels, and `done`.
 * It prints what sending them took. Client events go to the other connections with the same first such channel.
 *
 *   --certificate FILE --key FILE  speaks TLS
 *   --events N     how many events; none: the feed only answers
 *   --pace P       sends so many events a second, each with the time in microseconds as its number; none: as fast as they are taken
 *   --bytes B      the size of each event's text (95)
 *   --channels M   how many subscriptions it waits for (1)
 *   --spread M     how many channels the events go to in turn (1)
 *   --members M    who is on a presence channel (10)
 *   --activity S   after how many seconds of silence clients ask whether the connection lives (120)
 *   --count N      answers that many client events with `done`
 *   --drop         hangs up once on the first that has all its subscriptions
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "peer.h"
#include "events.h"
#include "latency.h"

enum { SESSIONS = 4096, PIECE = 65536, EXIT_USAGE = 2, QUIET_MICROSECONDS = 100000 };

struct session {
	struct peer *peer;
	unsigned char *input; /* frames of the client that are not whole yet */
	size_t size, room;
	char **channels; /* that get events */
	size_t channel_count, subscribed, client_events;
	char *output; /* what one read is answered with */
	size_t output_size;
};

static struct {
	const char *certificate, *key;
	size_t events, pace, bytes, channels, spread, members, activity, count;
	int drop;
} options = { .bytes = 95, .channels = 1, .spread = 1, .members = 10, .activity = 120 };

static struct session sessions[SESSIONS];
static size_t session_count;

static void answer(struct session *session, int opcode, const void *payload, size_t size)
{
	session->output = realloc(session->output, session->output_size + size + 16);
	session->output_size += put_frame((unsigned char *)session->output + session->output_size, opcode, payload, size);
}

static void answer_text(struct session *session, const char *text)
{
	answer(session, TEXT, text, strlen(text));
}

static void answer_event(struct session *session, const char *name)
{
	char *text = make_notice(name, session->channels[0]);
	answer_text(session, text);
	free(text);
}

static void flush_answers(struct session *session)
{
	if (session->output_size) peer_write_all(session->peer, session->output, session->output_size);
	session->output_size = 0;
}

static double cpu_now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

/* Sends each event at its time, or at once if that is past. */
static void send_paced(struct session *session)
{
	char text[4 * options.bytes + 1024];
	unsigned char frame[sizeof text + 16];
	long began = microseconds_now();
	for (size_t index = 0; index < options.events; index++) {
		long due = began + (long)(index * 1000000 / options.pace);
		struct timespec time = { .tv_sec = due / 1000000, .tv_nsec = due % 1000000 * 1000 };
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR) {}
		size_t size = put_event(text, session->channels[index % options.spread], (size_t)microseconds_now(), options.bytes);
		peer_write_all(session->peer, frame, put_frame(frame, TEXT, text, size));
	}
}

static void send_events(struct session *session)
{
	struct ring ring = { 0 };
	if (!options.pace) ring = make_ring(session->channels, options.spread, options.bytes, options.events);
	answer_event(session, "begin");
	flush_answers(session);
	usleep(QUIET_MICROSECONDS);
	double began = now(), began_cpu = cpu_now();
	if (options.pace) send_paced(session);
	else send_ring(session->peer, &ring, options.events);
	answer_event(session, "done");
	flush_answers(session);
	printf("{\"events\":%zu,\"seconds\":%.6f,\"cpu_seconds\":%.6f}\n", options.events, now() - began, cpu_now() - began_cpu);
	fflush(stdout);
	free_ring(&ring);
}

/* Returns whether the session goes on. */
static bool subscribe(struct session *session, char *name)
{
	if (session->subscribed == options.channels) return true;
	if (strstr(name, "bench")) session->channels[session->channel_count++] = strdup(name);
	char *text = succeeded(name, options.members);
	answer_text(session, text);
	free(text);
	if (++session->subscribed < options.channels) return true;
	flush_answers(session);
	if (options.drop) {
		options.drop = 0;
		return false;
	}
	if (options.events && session->channel_count >= options.spread) send_events(session);
	return true;
}

static void relay(struct session *from, const char *text)
{
	if (!from->channel_count) return;
	if (++from->client_events == options.count) answer_event(from, "done");
	if (options.count) return;
	for (size_t index = 0; index < session_count; index++) {
		struct session *to = &sessions[index];
		if (to == from || !to->channel_count || strcmp(to->channels[0], from->channels[0]) != 0) continue;
		answer_text(to, text);
		flush_answers(to);
	}
}

/* Takes a message of the client apart, as far as it needs to be; returns whether the session goes on. */
static bool take_message(struct session *session, char *text)
{
	static const char member[] = "\"channel\":\"";
	if (strstr(text, "\"pusher:subscribe\"")) {
		char *name = strstr(text, member);
		if (!name) return false;
		name += sizeof member - 1;
		name[strcspn(name, "\"")] = 0;
		return subscribe(session, name);
	}
	if (strstr(text, "\"pusher:ping\"")) answer_text(session, "{\"event\":\"pusher:pong\",\"data\":\"{}\"}");
	else if (strstr(text, "\"client-")) relay(session, text);
	return true;
}

/* Takes a frame, which a client has masked. */
static bool take_frame(struct session *session, int opcode, const unsigned char *mask, unsigned char *payload, size_t size)
{
	unsigned char text[size + 1];
	for (size_t index = 0; index < size; index++) text[index] = payload[index] ^ mask[index % 4];
	text[size] = 0;
	if (opcode == TEXT) return take_message(session, (char *)text);
	if (opcode == PING) answer(session, PONG, text, size);
	if (opcode == CLOSE) answer(session, CLOSE, text, size);
	return opcode != CLOSE;
}

/* How many bytes the first frame has, 0 if it isn't whole. */
static size_t frame_size(const unsigned char *bytes, size_t size, size_t *head)
{
	if (size < 2) return 0;
	size_t length = bytes[1] & 0x7F;
	*head = 2;
	if (length == 126) {
		if (size < 4) return 0;
		length = (size_t)bytes[2] << 8 | bytes[3];
		*head = 4;
	}
	*head += 4;
	return size >= *head + length ? *head + length : 0;
}

static bool take_frames(struct session *session)
{
	size_t start = 0, head = 0, size;
	bool goes_on = true;
	while (goes_on && (size = frame_size(session->input + start, session->size - start, &head))) {
		unsigned char *frame = session->input + start;
		goes_on = take_frame(session, frame[0] & 0x0F, frame + head - 4, frame + head, size - head);
		start += size;
	}
	session->size -= start;
	memmove(session->input, session->input + start, session->size);
	flush_answers(session);
	return goes_on;
}

static void greet(struct session *session)
{
	static int number;
	char text[256];
	snprintf(text, sizeof text,
		"{\"event\":\"pusher:connection_established\",\"data\":\"{\\\"socket_id\\\":\\\"1.%d\\\",\\\"activity_timeout\\\":%zu}\"}", ++number,
		options.activity);
	answer_text(session, text);
	flush_answers(session);
}

/* Reads what is there; returns whether the session goes on. */
static bool advance(struct session *session)
{
	if (!session->peer->is_open) {
		int result = peer_open(session->peer);
		if (result != 1) return result == NOTHING_YET;
		greet(session);
	}
	for (;;) {
		if (session->room - session->size < PIECE) session->input = realloc(session->input, session->room += 2 * PIECE);
		ssize_t count = peer_read(session->peer, session->input + session->size, session->room - session->size);
		if (count == NOTHING_YET) return true;
		if (count == ENDED) return false;
		session->size += (size_t)count;
		if (!take_frames(session)) return false;
	}
}

static void end(struct session *session)
{
	for (size_t index = 0; index < session->channel_count; index++) free(session->channels[index]);
	free(session->channels);
	free(session->input);
	free(session->output);
	peer_free(session->peer);
	*session = sessions[--session_count];
}

static void accept_all(int listener, SSL_CTX *tls)
{
	while (session_count < SESSIONS) {
		struct peer *peer = peer_accept(listener, tls);
		if (!peer) return;
		sessions[session_count++] = (struct session){ .peer = peer, .channels = calloc(options.channels, sizeof(char *)) };
	}
}

static void serve(int listener, SSL_CTX *tls)
{
	static struct pollfd polled[SESSIONS + 1];
	for (;;) {
		for (size_t index = 0; index < session_count; index++) {
			polled[index] = (struct pollfd){ .fd = sessions[index].peer->fd, .events = POLLIN };
		}
		polled[session_count] = (struct pollfd){ .fd = listener, .events = POLLIN };
		size_t known = session_count;
		if (poll(polled, known + 1, -1) < 0 && errno != EINTR) fail("can't poll");
		if (polled[known].revents) accept_all(listener, tls);
		/* Backwards: one that ends leaves its place to the last. */
		for (size_t index = known; index-- > 0;) {
			if (polled[index].revents && !advance(&sessions[index])) end(&sessions[index]);
		}
	}
}

static void read_options(int count, char **arguments)
{
	static const struct option known[] = {
		{ "certificate", required_argument, NULL, 'c' }, { "key", required_argument, NULL, 'k' },
		{ "events", required_argument, NULL, 'e' }, { "pace", required_argument, NULL, 'p' }, { "bytes", required_argument, NULL, 'b' },
		{ "channels", required_argument, NULL, 'n' }, { "spread", required_argument, NULL, 's' },
		{ "members", required_argument, NULL, 'm' }, { "activity", required_argument, NULL, 'a' },
		{ "count", required_argument, NULL, 'o' }, { "drop", no_argument, NULL, 'd' }, { 0 },
	};
	int option;
	while ((option = getopt_long(count, arguments, "", known, NULL)) != -1) {
		switch (option) {
		case 'c': options.certificate = optarg; break;
		case 'k': options.key = optarg; break;
		case 'e': options.events = strtoul(optarg, NULL, 10); break;
		case 'p': options.pace = strtoul(optarg, NULL, 10); break;
		case 'b': options.bytes = strtoul(optarg, NULL, 10); break;
		case 'n': options.channels = strtoul(optarg, NULL, 10); break;
		case 's': options.spread = strtoul(optarg, NULL, 10); break;
		case 'm': options.members = strtoul(optarg, NULL, 10); break;
		case 'a': options.activity = strtoul(optarg, NULL, 10); break;
		case 'o': options.count = strtoul(optarg, NULL, 10); break;
		case 'd': options.drop = 1; break;
		default: exit(EXIT_USAGE);
		}
	}
	if (optind < count || options.channels < 1 || options.spread < 1 || options.spread > options.channels) {
		fprintf(stderr, "feed: see the top of its source for what it takes\n");
		exit(EXIT_USAGE);
	}
}

int main(int count, char **arguments)
{
	read_options(count, arguments);
	signal(SIGPIPE, SIG_IGN);
	SSL_CTX *tls = options.certificate ? peer_tls(options.certificate, options.key) : NULL;
	serve(peer_listen(tls), tls);
}
