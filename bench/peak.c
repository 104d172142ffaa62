// Prints the GFLOP/s that one core reaches in fused multiply-adds alone, fp32, for half a second.
#include <stdio.h>
#include <time.h>

#ifdef __AVX512F__
enum { BYTES = 64, CHAINS = 24 };
#else
enum { BYTES = 32, CHAINS = 12 };
#endif
typedef float Vector __attribute__((vector_size(BYTES)));
enum { LANES = BYTES / sizeof(float), TURNS = 1 << 20 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

// Independent chains, enough to hide the latency of an addition; each stays finite.
static float multiplyAdd(void) {
  Vector sums[CHAINS];
  for (int chain = 0; chain < CHAINS; ++chain)
    sums[chain] = (Vector){} + (float)chain;
  const Vector factor = (Vector){} + 0.5f, term = (Vector){} + 1.0f;
  for (int turn = 0; turn < TURNS; ++turn)
#pragma clang loop unroll(full)
    for (int chain = 0; chain < CHAINS; ++chain)
      sums[chain] = __builtin_elementwise_fma(sums[chain], factor, term);
  float total = 0;
  for (int chain = 0; chain < CHAINS; ++chain)
    total += sums[chain][0];
  return total;
}

int main(void) {
  double start = now(), seconds = 0, best = 0;
  volatile float kept = 0;
  while (seconds < 0.5) {
    double before = now();
    kept = kept + multiplyAdd();
    double after = now(), speed = 2.0 * LANES * CHAINS * TURNS / (after - before);
    best = speed > best ? speed : best;
    seconds = after - start;
  }
  printf("%.2f\n", best * 1e-9);
  return 0;
}
