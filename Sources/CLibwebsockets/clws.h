// Parts of libwebsockets' headers that Swift can't import, and parts of the C library that Swift's module of it leaves out.
#ifndef CLWS_H
#define CLWS_H

// Swift's own module of the C library comes first. Otherwise this module would have the same declarations again, and hide them from
// files that import only the other.
#include <features.h>
#ifdef __GLIBC__
#pragma clang module import SwiftGlibc
#endif

#include <fcntl.h>
#include <libwebsockets.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

// Swift imports this union with two names for one member.
static inline struct lws *clws_adopt(struct lws_vhost *vhost, int descriptor, const char *protocol) {
    lws_sock_file_fd_type file;
    file.filefd = descriptor;
    return lws_adopt_descriptor_vhost(vhost, LWS_ADOPT_RAW_FILE_DESC, file, protocol, NULL);
}

// A timer that makes lws_service return. Being due isn't enough for that: lws_service runs due timers before it sleeps, and then
// sleeps until the next one is due.
struct clws_alarm {
    lws_sorted_usec_list_t timer;
    int event;
};

static inline void clws_ring(lws_sorted_usec_list_t *timer) {
    eventfd_write(lws_container_of(timer, struct clws_alarm, timer)->event, 1);
}

// `event` is an eventfd that the context watches, directly or indirectly. libwebsockets' own wake-up is missing if there was no
// descriptor for it.
static inline void clws_set_alarm(struct clws_alarm *alarm, struct lws_context *context, int event, lws_usec_t microseconds) {
    alarm->event = event;
    lws_sul_schedule(context, 0, &alarm->timer, clws_ring, microseconds);
}

static inline void clws_stop_alarm(struct clws_alarm *alarm) { lws_sul_cancel(&alarm->timer); }

// Puts a copy of a descriptor in the place of another. The C library declares dup3 only with _GNU_SOURCE.
static inline int clws_replace(int descriptor, int copied) { return (int)syscall(SYS_dup3, copied, descriptor, O_CLOEXEC); }

#endif
