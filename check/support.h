//===- support.h - programs that the checker knows --------------*- C++ -*-===//

#ifndef CHECK_SUPPORT_H
#define CHECK_SUPPORT_H

#include "check/executable.h"

namespace zero::check {

/// Throws a Refusal that names a feature which the checker does not handle, or an entry of a table
/// that points nowhere.
void expectSupported(const Executable &executable);

/// Throws a Refusal unless `executable` is a reference: one rank, one micro-batch, stage 0, all on
/// the device.
void expectReference(const Executable &executable);

/// Throws a Refusal unless both have the same states, with the same initial values, and the same
/// inputs of a rank.
void expectSameModel(const Executable &reference, const Executable &executable);

} // namespace zero::check

#endif // CHECK_SUPPORT_H
