// What Swift can't import from libwebsockets' headers, and what its module of the C library leaves out.
#ifndef CLWS_H
#define CLWS_H

#include <libwebsockets.h>
#include <sys/epoll.h>

// A union that Swift imports with two names for one member.
static inline struct lws *clws_adopt(struct lws_vhost *vhost, int descriptor, const char *protocol) {
    lws_sock_file_fd_type file;
    file.filefd = descriptor;
    return lws_adopt_descriptor_vhost(vhost, LWS_ADOPT_RAW_FILE_DESC, file, protocol, NULL);
}

// A timer that makes lws_service return. To be due isn't enough for that: lws_service runs what is due before it sleeps, and
// sleeps until something else is.
struct clws_alarm {
    lws_sorted_usec_list_t timer;
    struct lws_context *context;
};

static inline void clws_ring(lws_sorted_usec_list_t *timer) {
    lws_cancel_service(lws_container_of(timer, struct clws_alarm, timer)->context);
}

static inline void clws_set_alarm(struct clws_alarm *alarm, struct lws_context *context, lws_usec_t microseconds) {
    alarm->context = context;
    lws_sul_schedule(context, 0, &alarm->timer, clws_ring, microseconds);
}

static inline void clws_stop_alarm(struct clws_alarm *alarm) { lws_sul_cancel(&alarm->timer); }

#endif
