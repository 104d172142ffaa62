/*===- evaluation.h - the loss of any number of samples -------------*- C -*-===*\
|*                                                                            *|
|* zero_rt_session_evaluate() has the loss of one global batch. Here is that  *|
|* of any number of samples. The rules are those of zero_rt.h.                *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ZERO_RT_EVALUATION_H
#define ZERO_RT_EVALUATION_H

#include "zero_rt/zero_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An evaluation. All zeros to begin with. */
typedef struct zero_rt_evaluation {
  double loss;         /* the mean so far, as the loss weighs samples or labels; NaN without any */
  double seconds;      /* in evaluations of batches */
  uint64_t batches;    /* added, incomplete ones among them */
  uint64_t samples;    /* in these */
  uint64_t unlabelled; /* batches without a label that counts: they add nothing */
  uint64_t not_finite; /* other batches whose loss is NaN or infinite, as `loss` is then */
  uint64_t left_out;   /* samples of incomplete batches whose share in the loss cannot be told,
                          because it depends on the other samples of the batch */
  uint64_t repeated;   /* such samples that were added with repeats of themselves, because nothing
                          was added before them */
  double loss_sum, weight_sum; /* `loss` is their quotient */
} zero_rt_evaluation;

/* Adds `count` samples of `data` from `first` on, in the data's own order and at most a global
   batch, to `total`: each counts once, whatever the size of a global batch. An incomplete batch
   takes up to four evaluations. As zero_rt_session_evaluate(), it changes nothing that a later
   step reads. */
zero_rt_status zero_rt_session_evaluate_samples(zero_rt_session *session, zero_rt_data *data,
                                                uint64_t first, uint64_t count,
                                                zero_rt_evaluation *total);

/* The most bytes of a warning, with its end. */
enum { ZERO_RT_WARNING_BYTES = 256 };
/* Writes warning `index` about an evaluation to `text`, of `size` bytes: of batches without labels,
   of losses that are not finite, of samples that are left out or repeated. 0 if there is none. */
int zero_rt_evaluation_warning(const zero_rt_evaluation *total, size_t index, char *text,
                               size_t size);

/* Only evaluations will read the data: no warning that it is smaller than a global batch. */
void zero_rt_data_for_evaluations(zero_rt_data *data);

#ifdef __cplusplus
}
#endif

#endif /* ZERO_RT_EVALUATION_H */
