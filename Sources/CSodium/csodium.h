// Swift's own module of the C library comes first. Otherwise this module would have the same declarations again, and hide them from
// files that import only the other.
#include <features.h>
#ifdef __GLIBC__
#pragma clang module import SwiftGlibc
#endif

#include <sodium.h>
