#ifndef HOLD_H
#define HOLD_H

#include <openssl/ssl.h>

/*
 * Keeps all clients and answers their close frames, until its input ends. The first client is pinged all the time, by a thread
 * of its own. A line of input has it print how many are open, how many at once were between being accepted and the answer
 * to their upgrade, how many pings were answered, and the longest wait for a pong, all but the first since the line before.
 */
void hold(int listener, SSL_CTX *tls);

#endif
