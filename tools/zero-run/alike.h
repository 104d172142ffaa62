//===- alike.h - what all processes of a run have alike ---------*- C++ -*-===//

#ifndef TOOLS_ZERO_RUN_ALIKE_H
#define TOOLS_ZERO_RUN_ALIKE_H

#include "job.h"

namespace zero::run {

/// Fails, on all processes alike, if one would train otherwise than process 0: with another value
/// of an option on which the numbers or the course of the run depend, or with other data or
/// weights. Of files, the size and blocks of bytes are compared, or all bytes with --verify-data.
/// Their paths may differ. Collective.
rt::Status checkAlike(const Options &options, const Job &job);

} // namespace zero::run

#endif // TOOLS_ZERO_RUN_ALIKE_H
