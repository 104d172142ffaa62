/*===- averages.h - averages in place of parameters -----------------*- C -*-===*\
|*                                                                            *|
|* A program that was compiled with --ema keeps an average of each trained    *|
|* parameter over updates. The rules are those of zero_rt.h.                  *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ZERO_RT_AVERAGES_H
#define ZERO_RT_AVERAGES_H

#include "zero_rt/zero_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether the program keeps averages. */
int zero_rt_executable_has_averages(const zero_rt_executable *executable);

/* With `use`, exchanges each trained parameter with its average: evaluations, tensors that are read
   and files of weights have the averages. With 0, parameters have their own values again. Nothing
   is lost, and no memory is needed. All processes call it. Until parameters have their own values,
   steps and checkpoints are errors, and so are weights that are loaded. ZERO_RT_UNSUPPORTED: the
   program keeps no averages, or stores parameters in 16 bits without f32 masters. */
zero_rt_status zero_rt_session_use_averages(zero_rt_session *session, int use);

#ifdef __cplusplus
}
#endif

#endif /* ZERO_RT_AVERAGES_H */
