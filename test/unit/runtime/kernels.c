/* kernels.c - the code section of the executor tests: kernels by hand, with the
   interface that compiled ones have: over a dynamic length, `end` of it in one call. */

#include <stdint.h>

/* y[6] -> loss[1], dy[6]: the mean of y and its gradient, divided by the ranks in ranks[1]. */
void mean_loss(void *const *args, int64_t begin, int64_t end) {
  const float *y = args[0], *ranks = args[1];
  float *loss = args[2], *dy = args[3];
  float sum = 0;
  for (int i = 0; i < 6; ++i) {
    sum += y[i];
    dy[i] = 1.0f / (6.0f * *ranks);
  }
  *loss = sum / 6.0f;
}

/* y[end], scale[1] -> loss[1], dy[end]: the sum of y times the scale; dy is slope[1]. */
void share_loss(void *const *args, int64_t begin, int64_t end) {
  const float *y = args[0], *scale = args[1], *slope = args[2];
  float *loss = args[3], *dy = args[4];
  float sum = 0;
  for (int64_t i = begin; i < end; ++i) {
    sum += y[i];
    dy[i] = *slope;
  }
  *loss = sum * *scale;
}

/* w[end] -= lr[1] * g[end]. */
void sgd(void *const *args, int64_t begin, int64_t end) {
  float *w = args[0];
  const float *g = args[1], *rate = args[2];
  for (int64_t i = begin; i < end; ++i)
    w[i] = w[i] - *rate * g[i];
}

/* label[2] -> {smallest, largest}. */
void range(void *const *args, int64_t begin, int64_t end) {
  const int64_t *label = args[0];
  int64_t *result = args[1];
  result[0] = label[0] < label[1] ? label[0] : label[1];
  result[1] = label[0] < label[1] ? label[1] : label[0];
}

/* count[1] += 1. */
void increment(void *const *args, int64_t begin, int64_t end) { ++*(int64_t *)args[0]; }

/* Never returns where x[1] is 1234. */
void hang(void *const *args, int64_t begin, int64_t end) {
  for (volatile const float *x = args[0]; *x == 1234.0f;)
    ;
}

/* own[1] = 1; 2 once other[1] is not 0 any more, unless that takes a second or so. */
void meet(void *const *args, int64_t begin, int64_t end) {
  volatile int64_t *own = args[0], *other = args[1];
  *own = 1;
  for (int64_t i = 0; *other == 0; ++i)
    if (i == 2000000000)
      return;
  *own = 2;
}

/* Of a step in mixed precision: mixed_program.cpp. */

static float wide(uint16_t half) {
  union {
    uint32_t bits;
    float value;
  } result = {(uint32_t)half << 16};
  return result.value;
}

/* To nearest even; of numbers only. */
static uint16_t half(float value) {
  union {
    float value;
    uint32_t bits;
  } whole = {value};
  return (uint16_t)((whole.bits + 0x7fff + (whole.bits >> 16 & 1)) >> 16);
}

/* label[2] -> count[1]: how many are >= 0. */
void count_labels(void *const *args, int64_t begin, int64_t end) {
  const int64_t *label = args[0];
  *(float *)args[1] = (label[0] >= 0) + (label[1] >= 0);
}

/* sum[end] += part[end]. */
void add(void *const *args, int64_t begin, int64_t end) {
  float *sum = args[0];
  const float *part = args[1];
  for (int64_t i = begin; i < end; ++i)
    sum[i] = sum[i] + part[i];
}

/* y[6], label[2], total[1], scale[1] -> part[1], dy[6]. */
void masked_loss(void *const *args, int64_t begin, int64_t end) {
  const float *y = args[0], *total = args[2], *scale = args[3];
  const int64_t *label = args[1];
  float *part = args[4], *dy = args[5];
  float share = 1.0f / (4.0f * *total);
  *part = 0;
  for (int i = 0; i < 6; ++i) {
    float weight = label[i / 3] >= 0 ? share : 0.0f;
    *part = *part + y[i] * weight;
    dy[i] = weight * *scale;
  }
}

/* sum[end] = gradient[end]. */
void widen(void *const *args, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    ((float *)args[0])[i] = wide(((const uint16_t *)args[1])[i]);
}

/* sum[end] += gradient[end]. */
void add_wide(void *const *args, int64_t begin, int64_t end) {
  float *sum = args[0];
  for (int64_t i = begin; i < end; ++i)
    sum[i] = sum[i] + wide(((const uint16_t *)args[1])[i]);
}

/* sum[end], scale[1] -> {numbers that are not finite, sum of squares}. */
void measure(void *const *args, int64_t begin, int64_t end) {
  const float *sum = args[0], *scale = args[1];
  float *found = args[2];
  found[0] = found[1] = 0;
  for (int64_t i = begin; i < end; ++i) {
    float value = sum[i] / *scale;
    found[0] += !(sum[i] - sum[i] == 0);
    found[1] += value * value;
  }
}

/* found[2] -> applied[1], norm[1]. */
void decide(void *const *args, int64_t begin, int64_t end) {
  const float *found = args[0];
  *(uint8_t *)args[1] = found[0] == 0;
  *(float *)args[2] = __builtin_sqrtf(found[1]);
}

/* master[end] -= rate[1] * sum[end] / scale[1]; w[end] = master[end]. */
void update(void *const *args, int64_t begin, int64_t end) {
  float *master = args[0];
  uint16_t *w = args[1];
  const float *sum = args[2], *rate = args[3], *scale = args[4];
  for (int64_t i = begin; i < end; ++i) {
    master[i] = master[i] - *rate * (sum[i] / *scale);
    w[i] = half(master[i]);
  }
}

/* scale[1] is halved unless applied[1]. */
void rescale(void *const *args, int64_t begin, int64_t end) {
  if (!*(const uint8_t *)args[1])
    *(float *)args[0] *= 0.5f;
}
