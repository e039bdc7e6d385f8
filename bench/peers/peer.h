/* What all programs of this folder share: flags, a clock, and the line of JSON that each gradient ends with. */
#ifndef PEER_H
#define PEER_H
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The value of the flag -name, or what stands for it. */
static inline const char *flag(int argc, char **argv, const char *name, const char *otherwise)
{
  for (int i = 1; i + 1 < argc; i++)
    if (argv[i][0] == '-' && !strcmp(argv[i] + 1, name)) return argv[i + 1];
  return otherwise;
}

/* Seconds; of the processor with PEER_CLOCK=cpu, for machines that others use. */
static inline double now(void)
{
  static int id = -1;
  if (id < 0) {
    const char *kind = getenv("PEER_CLOCK");
    id = kind && !strcmp(kind, "cpu") ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
  }
  struct timespec ts;
  clock_gettime(id, &ts);
  return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* n doubles, all zero, where vectors begin. */
static inline double *doubles(size_t n)
{
  double *x = aligned_alloc(64, (8 * n + 64) / 64 * 64);
  if (!x) { fprintf(stderr, "no memory for %zu doubles\n", n); exit(1); }
  memset(x, 0, 8 * n);
  return x;
}

/* One line for one gradient. The checksum is a norm of derivatives. */
static inline void report(const char *peer, int steps, int rejected, double forward, double adjoint, double checksum)
{
  printf("{\"peer\":\"%s\",\"steps\":%d,\"rejected\":%d,\"forward_s\":%.9f,\"adjoint_s\":%.9f,\"total_s\":%.9f,"
         "\"checksum\":%.15g}\n", peer, steps, rejected, forward, adjoint, forward + adjoint, checksum);
  fflush(stdout);
}

/* The 64-bit linear congruential generator with Knuth's constants: a number in [0, 1). */
static inline double draw(uint64_t *s)
{
  *s = *s * 6364136223846793005ULL + 1442695040888963407ULL;
  return (double)(*s >> 11) * 0x1p-53;
}
#endif
