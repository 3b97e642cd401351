// What Swift can't import from OpenSSL's headers: function-like macros that a client needs.
#ifndef COPENSSL_CLIENT_H
#define COPENSSL_CLIENT_H

#include <openssl/ssl.h>

static inline void copenssl_configure_client(SSL_CTX *context, int minimum_version) {
    SSL_CTX_set_min_proto_version(context, minimum_version);
    // What is unsent may move and grow between tries, and idle connections keep no buffers.
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
    // One read from the kernel for many records.
    SSL_CTX_set_read_ahead(context, 1);
}

static inline int copenssl_set_server_name(SSL *tls, const char *name) { return (int)SSL_set_tlsext_host_name(tls, name); }

static inline int copenssl_chain_count(const STACK_OF(X509) *chain) { return chain == NULL ? 0 : sk_X509_num(chain); }

static inline X509 *copenssl_chain_certificate(const STACK_OF(X509) *chain, int index) { return sk_X509_value(chain, index); }

#endif
