/*===- adapters.h - adapters that a program trains ------------------*- C -*-===*\
|*                                                                            *|
|* Low-rank adapters that the compiler added (--lora). The rules are those of *|
|* zero_rt.h.                                                                 *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ZERO_RT_ADAPTERS_H
#define ZERO_RT_ADAPTERS_H

#include "zero_rt/zero_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The content of PEFT's adapter_config.json for the adapters of a program; NULL if it has none, or
   trains other parameters, too. */
const char *zero_rt_executable_adapter_config(zero_rt_executable *executable);

/* The adapter of a tensor: the product of the tensors `second`, of [outputs, size], and `first`, of
   [size, inputs], times `scale` is added to it. With a tensor `magnitude`, of [outputs], the
   weights of each output are then scaled to that norm. */
typedef struct zero_rt_adapter {
  const char *first, *second; /* NULL: the tensor has no adapter */
  double scale;
  int inputs_first;      /* the tensor has the elements of a matrix of [inputs, outputs] */
  const char *magnitude; /* NULL: none */
} zero_rt_adapter;

/* The adapter of the tensor of index `tensor`. */
zero_rt_status zero_rt_executable_adapter(const zero_rt_executable *executable, size_t tensor,
                                          zero_rt_adapter *adapter);

#ifdef __cplusplus
}
#endif

#endif /* ZERO_RT_ADAPTERS_H */
