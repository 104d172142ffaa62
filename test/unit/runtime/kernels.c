/* kernels.c - the code section of the executor tests: kernels by hand, with the
   interface that compiled ones have. */

#include <stdint.h>

/* y[6] -> loss[1], dy[6]: the mean of y and its gradient, divided by the ranks in ranks[1]. */
void mean_loss(void *const *args, int64_t length) {
  const float *y = args[0], *ranks = args[1];
  float *loss = args[2], *dy = args[3];
  float sum = 0;
  for (int i = 0; i < 6; ++i) {
    sum += y[i];
    dy[i] = 1.0f / (6.0f * *ranks);
  }
  *loss = sum / 6.0f;
}

/* w[length] -= lr[1] * g[length]. */
void sgd(void *const *args, int64_t length) {
  float *w = args[0];
  const float *g = args[1], *rate = args[2];
  for (int64_t i = 0; i < length; ++i)
    w[i] = w[i] - *rate * g[i];
}

/* label[2] -> {smallest, largest}. */
void range(void *const *args, int64_t length) {
  const int64_t *label = args[0];
  int64_t *result = args[1];
  result[0] = label[0] < label[1] ? label[0] : label[1];
  result[1] = label[0] < label[1] ? label[1] : label[0];
}

/* count[1] += 1. */
void increment(void *const *args, int64_t length) { ++*(int64_t *)args[0]; }

/* Never returns where x[1] is 1234. */
void hang(void *const *args, int64_t length) {
  for (volatile const float *x = args[0]; *x == 1234.0f;)
    ;
}
