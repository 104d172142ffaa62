/*===- ranges.h - read parts of values ------------------------------*- C -*-===*\
|*                                                                            *|
|* For values that should not be in memory as a whole. The rules are those of *|
|* zero_rt.h.                                                                 *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ZERO_RT_RANGES_H
#define ZERO_RT_RANGES_H

#include "zero_rt/zero_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As zero_rt_session_read_output(), _read_tensor() and _read_gradient(), but only `bytes` bytes
   from byte `offset` on. No process needs memory for more. It is an error if the value has fewer.
 */
zero_rt_status zero_rt_session_read_output_range(zero_rt_session *session, const char *name,
                                                 int rank, uint64_t offset, void *destination,
                                                 size_t bytes);
zero_rt_status zero_rt_session_read_tensor_range(zero_rt_session *session, const char *name,
                                                 uint64_t offset, void *destination, size_t bytes);
zero_rt_status zero_rt_session_read_gradient_range(zero_rt_session *session, const char *parameter,
                                                   uint64_t offset, void *destination,
                                                   size_t bytes);

#ifdef __cplusplus
}
#endif

#endif /* ZERO_RT_RANGES_H */
