#define _GNU_SOURCE
#include "peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

void fail(const char *what)
{
	fprintf(stderr, "server: %s: %s\n", what, errno ? strerror(errno) : ERR_reason_error_string(ERR_peek_error()));
	exit(EXIT_FAILURE);
}

SSL_CTX *peer_tls(const char *certificate, const char *key)
{
	SSL_CTX *tls = SSL_CTX_new(TLS_server_method());
	errno = 0;
	if (!tls || SSL_CTX_use_certificate_file(tls, certificate, SSL_FILETYPE_PEM) != 1
		|| SSL_CTX_use_PrivateKey_file(tls, key, SSL_FILETYPE_PEM) != 1) fail("can't use the certificate");
	SSL_CTX_set_mode(tls, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
	return tls;
}

int peer_listen(SSL_CTX *tls)
{
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof address;
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, size) || listen(listener, 4096)
		|| getsockname(listener, (struct sockaddr *)&address, &size)) fail("can't listen");
	printf("listening on %s://127.0.0.1:%d\n", tls ? "wss" : "ws", ntohs(address.sin_port));
	fflush(stdout);
	return listener;
}

struct peer *peer_accept(int listener, SSL_CTX *tls)
{
	int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd < 0) {
		if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return NULL;
		fail("can't accept");
	}
	int on = 1;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	struct peer *peer = calloc(1, sizeof *peer);
	peer->fd = fd;
	peer->head = malloc(HEAD_SIZE);
	if (tls) {
		peer->tls = SSL_new(tls);
		SSL_set_fd(peer->tls, fd);
		SSL_set_accept_state(peer->tls);
	}
	return peer;
}

void peer_free(struct peer *peer)
{
	SSL_free(peer->tls);
	close(peer->fd);
	free(peer->head);
	free(peer);
}

static ssize_t tls_result(struct peer *peer, int result, size_t count)
{
	if (result == 1) return (ssize_t)count;
	int error = SSL_get_error(peer->tls, result);
	ERR_clear_error();
	return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? NOTHING_YET : ENDED;
}

static ssize_t socket_result(ssize_t result)
{
	if (result >= 0) return result;
	return errno == EAGAIN || errno == EINTR ? NOTHING_YET : ENDED;
}

ssize_t peer_read(struct peer *peer, void *buffer, size_t size)
{
	size_t count = 0;
	if (!peer->tls) return socket_result(recv(peer->fd, buffer, size, 0));
	return tls_result(peer, SSL_read_ex(peer->tls, buffer, size, &count), count);
}

ssize_t peer_write(struct peer *peer, const void *bytes, size_t size)
{
	size_t count = 0;
	if (!peer->tls) return socket_result(send(peer->fd, bytes, size, MSG_NOSIGNAL));
	return tls_result(peer, SSL_write_ex(peer->tls, bytes, size, &count), count);
}

void peer_wait(struct peer *peer, bool wants_to_write, int milliseconds)
{
	struct pollfd wanted = { .fd = peer->fd, .events = POLLIN | (wants_to_write ? POLLOUT : 0) };
	poll(&wanted, 1, milliseconds);
}

void peer_write_all(struct peer *peer, const void *bytes, size_t size)
{
	for (size_t sent = 0; sent < size;) {
		ssize_t count = peer_write(peer, (const char *)bytes + sent, size - sent);
		if (count == ENDED) return;
		if (count == NOTHING_YET) {
			/* Not for what can be read, which nobody takes here. */
			struct pollfd room = { .fd = peer->fd, .events = POLLOUT };
			poll(&room, 1, 1000);
		} else {
			sent += (size_t)count;
		}
	}
}

static void answer_upgrade(struct peer *peer)
{
	static const char name[] = "sec-websocket-key:", guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
	char text[128], answer[256];
	unsigned char digest[EVP_MAX_MD_SIZE], accept[64];
	const char *key = strcasestr(peer->head, name);
	errno = EPROTO;
	if (!key) fail("no key in the upgrade");
	key += strlen(name);
	key += strspn(key, " ");
	snprintf(text, sizeof text, "%.*s%s", (int)strcspn(key, " \r"), key, guid);
	EVP_Digest(text, strlen(text), digest, NULL, EVP_sha1(), NULL);
	EVP_EncodeBlock(accept, digest, 20);
	int size = snprintf(answer, sizeof answer,
		"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
		(char *)accept);
	peer_write_all(peer, answer, (size_t)size);
}

int peer_open(struct peer *peer)
{
	while (!peer->is_open) {
		ssize_t count = peer_read(peer, peer->head + peer->head_size, HEAD_SIZE - 1 - peer->head_size);
		if (count <= 0) return (int)count;
		peer->head_size += (size_t)count;
		peer->head[peer->head_size] = 0;
		if (!strstr(peer->head, "\r\n\r\n")) continue;
		answer_upgrade(peer);
		free(peer->head);
		peer->head = NULL;
		peer->is_open = true;
	}
	return 1;
}

size_t put_frame(unsigned char *there, int opcode, const void *payload, size_t size)
{
	size_t head = size < 126 ? 2 : size < 65536 ? 4 : 10;
	there[0] = 0x80 | (unsigned char)opcode;
	there[1] = head == 2 ? (unsigned char)size : head == 4 ? 126 : 127;
	for (size_t index = 2; index < head; index++) there[index] = (unsigned char)(size >> 8 * (head - 1 - index));
	memcpy(there + head, payload, size);
	return head + size;
}
