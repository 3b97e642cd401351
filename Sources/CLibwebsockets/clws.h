// What Swift can't import from libwebsockets' headers: function-like macros and a type that hides an enum.
#ifndef CLWS_H
#define CLWS_H

#include <libwebsockets.h>
#include <openssl/evp.h>

enum { CLWS_PRE = LWS_PRE };
enum { CLWS_FIRST = 1, CLWS_FINAL = 2, CLWS_BINARY = 4 };

// One call instead of four for every received piece of a message.
static inline unsigned clws_frame_flags(struct lws *wsi) {
    return (lws_is_first_fragment(wsi) ? CLWS_FIRST : 0u)
        | (lws_is_final_fragment(wsi) && !lws_remaining_packet_payload(wsi) ? CLWS_FINAL : 0u)
        | (lws_frame_is_binary(wsi) ? CLWS_BINARY : 0u);
}

static inline int clws_write(struct lws *wsi, unsigned char *bytes, size_t count, int flags) {
    return lws_write(wsi, bytes, count, (enum lws_write_protocol)flags);
}

#endif
