// What Swift can't import from libwebsockets' headers.
#ifndef CLWS_H
#define CLWS_H

#include <libwebsockets.h>

// A union that Swift imports with two names for one member.
static inline struct lws *clws_adopt(struct lws_vhost *vhost, int descriptor, const char *protocol) {
    lws_sock_file_fd_type file;
    file.filefd = descriptor;
    return lws_adopt_descriptor_vhost(vhost, LWS_ADOPT_RAW_FILE_DESC, file, protocol, NULL);
}

#endif
