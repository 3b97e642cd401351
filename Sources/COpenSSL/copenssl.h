// Function-like macros from OpenSSL's headers, which Swift can't import.
#ifndef COPENSSL_H
#define COPENSSL_H

// Swift's own module of the C library comes first. Otherwise this module would have the same declarations again, and hide them from
// files that import only the other.
#include <features.h>
#ifdef __GLIBC__
#pragma clang module import SwiftGlibc
#endif

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

static inline EVP_PKEY *copenssl_make_p256_key(void) {
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, NULL);
    if (context != NULL && EVP_PKEY_keygen_init(context) == 1
        && EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1) == 1) {
        EVP_PKEY_keygen(context, &key);
    }
    EVP_PKEY_CTX_free(context);
    return key;
}

static inline int copenssl_add_extension(X509 *certificate, X509 *issuer, int kind, const char *value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, kind, (char *)value);
    if (extension == NULL) return 0;
    int result = X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    return result;
}

// A memory BIO that asks for a retry when it is empty, instead of reporting an end.
static inline BIO *copenssl_make_memory(void) {
    BIO *memory = BIO_new(BIO_s_mem());
    if (memory != NULL) BIO_set_mem_eof_return(memory, -1);
    return memory;
}

static inline int copenssl_set_versions(SSL_CTX *context, int lowest, int highest) {
    // Versions before TLS 1.2 sign with SHA-1, which no security level above 0 allows.
    if (lowest < TLS1_2_VERSION) SSL_CTX_set_security_level(context, 0);
    return SSL_CTX_set_min_proto_version(context, lowest) == 1 && SSL_CTX_set_max_proto_version(context, highest) == 1;
}

static inline void copenssl_forget_sessions(SSL_CTX *context) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
}

// Otherwise OpenSSL would fill gaps in the chain with certificates that it trusts.
static inline void copenssl_send_given_chain_only(SSL_CTX *context) { SSL_CTX_set_mode(context, SSL_MODE_NO_AUTO_CHAIN); }

static inline int copenssl_add_to_chain(SSL_CTX *context, X509 *certificate) {
    return (int)SSL_CTX_add1_chain_cert(context, certificate);
}

#endif
