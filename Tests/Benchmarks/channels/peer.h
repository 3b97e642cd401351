/*
 * One client of a benchmark's server: a socket that never blocks, perhaps with TLS on it, and the WebSocket upgrade.
 */
#ifndef PEER_H
#define PEER_H

#include <openssl/ssl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { HEAD_SIZE = 4096, ENDED = 0, NOTHING_YET = -1 };
enum { TEXT = 1, CLOSE = 8, PING = 9, PONG = 10 };

struct peer {
	int fd;
	SSL *tls; /* NULL without TLS */
	char *head; /* what came of the upgrade request */
	size_t head_size;
	bool is_open;
};

double now(void); /* in seconds, of a clock that nobody sets */
void fail(const char *what); /* ends the process with what errno says */

SSL_CTX *peer_tls(const char *certificate, const char *key);
int peer_listen(SSL_CTX *tls); /* on a free port of 127.0.0.1, which it prints */
struct peer *peer_accept(int listener, SSL_CTX *tls); /* NULL if nobody waits */
void peer_free(struct peer *peer);

/* How many bytes; ENDED; NOTHING_YET. */
ssize_t peer_read(struct peer *peer, void *buffer, size_t size);
ssize_t peer_write(struct peer *peer, const void *bytes, size_t size);
void peer_write_all(struct peer *peer, const void *bytes, size_t size);
/* Waits until the socket can be read, or, if it wants to write, written. */
void peer_wait(struct peer *peer, bool wants_to_write, int milliseconds);

/* Goes on with TLS and the upgrade: 1 when it is open, ENDED, or NOTHING_YET. */
int peer_open(struct peer *peer);

/* Puts an unmasked frame there; returns its size. */
size_t put_frame(unsigned char *there, int opcode, const void *payload, size_t size);

#endif
