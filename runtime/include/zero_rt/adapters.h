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

#ifdef __cplusplus
}
#endif

#endif /* ZERO_RT_ADAPTERS_H */
