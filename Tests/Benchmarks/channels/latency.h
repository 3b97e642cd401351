/*
 * How long events took: a paced feed's ticks carry the time at which they were sent as their number, in microseconds.
 */
#ifndef LATENCY_H
#define LATENCY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline long microseconds_now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000L + time.tv_nsec / 1000;
}

/* How long ago the first event among these bytes was sent. */
static inline double microseconds_since_sent(const void *bytes, size_t size)
{
	static const char member[] = "\\\"n\\\":";
	const char *number = memmem(bytes, size, member, sizeof member - 1);
	return number ? (double)(microseconds_now() - atol(number + sizeof member - 1)) : -1;
}

static inline int compare_times(const void *left, const void *right)
{
	double difference = *(const double *)left - *(const double *)right;
	return difference < 0 ? -1 : difference > 0;
}

/* Prints members of a JSON object, with a comma before each. */
static inline void print_times(double *microseconds, long count)
{
	qsort(microseconds, (size_t)count, sizeof *microseconds, compare_times);
	printf(",\"p50_us\":%.1f,\"p99_us\":%.1f,\"p999_us\":%.1f", microseconds[count / 2], microseconds[count * 99 / 100],
		microseconds[count * 999 / 1000]);
}

#endif
