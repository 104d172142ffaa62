/*===- finding.h - which command writes NaN first -------------------*- C -*-===*\
|*                                                                            *|
|* A step whose loss or gradient is not finite fails, and says no more. With  *|
|* this it says where that began. The rules are those of zero_rt.h.           *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ZERO_RT_FINDING_H
#define ZERO_RT_FINDING_H

#include "zero_rt/zero_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All following steps and evaluations read what each kernel has read and written. One fails with
   ZERO_RT_NOT_FINITE at the first kernel that writes NaN, and names it, the rank, the micro-batch
   and which of its arguments were not finite before. Numbers stay the same; a step takes several
   times as long. ZERO_RT_UNSUPPORTED: a program for GPUs. */
zero_rt_status zero_rt_session_find_nan(zero_rt_session *session);

#ifdef __cplusplus
}
#endif

#endif /* ZERO_RT_FINDING_H */
