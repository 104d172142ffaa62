/*===- mixing.h - data in parts ---------------------------------------*- C -*-===*\
|*                                                                            *|
|* Data that is one set of files after the other, or a mixture of them, and   *|
|* orders that stay close to that of the files. The rules are those of        *|
|* zero_rt.h.                                                                 *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ZERO_RT_MIXING_H
#define ZERO_RT_MIXING_H

#include "zero_rt/zero_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads the samples of `part`, too, which has data for all inputs, instead of data that is bound to
 * `data` itself: behind those of earlier parts if `weight` is 0, otherwise mixed with them. Of a
 * mixture each part has its share of the samples of a step, in the mean; a part that is at its end
 * begins again; there are no epochs. Either all parts have weights or none. `part` must not be
 * changed afterwards, and may be freed. */
zero_rt_status zero_rt_data_add_part(zero_rt_data *data, const zero_rt_data *part, double weight);

/* Shuffles within windows of `window` samples in the order of the data; 0: as zero_rt_data_shuffle,
 * among all. */
zero_rt_status zero_rt_data_shuffle_within(zero_rt_data *data, uint64_t seed, uint64_t window);

#ifdef __cplusplus
}
#endif

#endif /* ZERO_RT_MIXING_H */
