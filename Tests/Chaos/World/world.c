// Goes between a process and its C library: the name server and the clock are what two files say.
//   $CHAOS_WORLD/names   one line: found, or missing
//   $CHAOS_WORLD/clock   one line: how many seconds the clock is ahead
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

// Reads a file with system calls only: what the C library does to read one may ask for the time.
static const char *line_of(const char *name, char *line, size_t size) {
    const char *folder = getenv("CHAOS_WORLD");
    if (!folder) return "";
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return "";
    ssize_t count = read(file, line, size - 1);
    close(file);
    line[count < 0 ? 0 : count] = 0;
    return line;
}

static long ahead(void) {
    char line[32];
    return strtol(line_of("clock", line, sizeof line), NULL, 10);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && clock == CLOCK_REALTIME) time->tv_sec += ahead();
    return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    int result = syscall(SYS_gettimeofday, time, zone);
    if (result == 0) time->tv_sec += ahead();
    return result;
}

time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **result) {
    int (*ask)(const char *, const char *, const struct addrinfo *, struct addrinfo **) = dlsym(RTLD_NEXT, "getaddrinfo");
    char line[32];
    if (node && strcmp(node, "ws.example") == 0) {
        // Not where the file can't be opened: what then is missing is a descriptor.
        if (strncmp(line_of("names", line, sizeof line), "missing", 7) == 0) return EAI_NONAME;
        node = "127.0.0.1";
    }
    return ask(node, service, hints, result);
}
