//===- order.h - order of commands on lanes ---------------------*- C++ -*-===//

#ifndef CHECK_ORDER_H
#define CHECK_ORDER_H

#include "check/machine.h"

namespace zero::check {

/// Throws a Refusal unless every two commands that access the same bytes of a rank, one of them
/// writing, are ordered by their lanes and waits. Then any order that lanes allow computes what the
/// listed one does. `describe` names a command, counted over all segments.
void expectOrdered(const Executable &executable,
                   const std::function<std::string(int32_t)> &describe);

} // namespace zero::check

#endif // CHECK_ORDER_H
