// Function-like macros from OpenSSL's headers that a client needs and Swift can't import.
#ifndef COPENSSL_CLIENT_H
#define COPENSSL_CLIENT_H

// Swift's own module of the C library comes first. Otherwise this module would have the same declarations again, and hide them from
// files that import only the other.
#include <features.h>
#ifdef __GLIBC__
#pragma clang module import SwiftGlibc
#endif

#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <stdint.h>
#include <sys/socket.h>

static inline void copenssl_configure_client(SSL_CTX *context, int minimum_version) {
    SSL_CTX_set_min_proto_version(context, minimum_version);
    // Unsent data may move and grow between tries, and idle connections keep no buffers.
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    // One read from the kernel serves many records.
    SSL_CTX_set_read_ahead(context, 1);
}

static inline int copenssl_set_server_name(SSL *tls, const char *name) { return (int)SSL_set_tlsext_host_name(tls, name); }

static inline int copenssl_send(BIO *socket, const char *bytes, int size) {
    BIO_clear_retry_flags(socket);
    int sent = (int)send((int)BIO_get_fd(socket, NULL), bytes, (size_t)size, MSG_NOSIGNAL);
    if (sent <= 0 && BIO_sock_should_retry(sent)) BIO_set_retry_write(socket);
    return sent;
}

// Sets the number of bytes that may be read from the socket before it reports that nothing more is there yet.
static inline void copenssl_allow_reading(SSL *tls, int size) { BIO_set_app_data(SSL_get_rbio(tls), (void *)(intptr_t)size); }

static inline int copenssl_receive(BIO *socket, char *bytes, int size) {
    intptr_t left = (intptr_t)BIO_get_app_data(socket);
    if (left <= 0) {
        BIO_clear_retry_flags(socket);
        BIO_set_retry_read(socket);
        return -1;
    }
    int received = BIO_meth_get_read(BIO_s_socket())(socket, bytes, size);
    if (received > 0) BIO_set_app_data(socket, (void *)(left - received));
    return received;
}

// Makes a socket method that reads no more than was allowed, and raises no SIGPIPE when it writes to a peer that is gone. The
// signal could end the process, and blocking it on a thread blocks it on all threads that are made there. NULL if there is no
// memory for it.
static inline BIO_METHOD *copenssl_make_socket_method(void) {
    const BIO_METHOD *original = BIO_s_socket();
    BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOCKET, "socket");
    if (method == NULL || !BIO_meth_set_write(method, copenssl_send) || !BIO_meth_set_read(method, copenssl_receive)
        || !BIO_meth_set_puts(method, BIO_meth_get_puts(original)) || !BIO_meth_set_ctrl(method, BIO_meth_get_ctrl(original))
        || !BIO_meth_set_create(method, BIO_meth_get_create(original))
        || !BIO_meth_set_destroy(method, BIO_meth_get_destroy(original))) {
        BIO_meth_free(method);
        return NULL;
    }
    return method;
}

static inline int copenssl_set_socket(SSL *tls, const BIO_METHOD *method, int descriptor) {
    BIO *socket = BIO_new(method);
    if (socket == NULL) return 0;
    BIO_set_fd(socket, descriptor, BIO_NOCLOSE);
    SSL_set_bio(tls, socket, socket);
    return 1;
}

static inline int copenssl_chain_count(const STACK_OF(X509) *chain) { return chain == NULL ? 0 : sk_X509_num(chain); }

static inline X509 *copenssl_chain_certificate(const STACK_OF(X509) *chain, int index) { return sk_X509_value(chain, index); }

#endif
