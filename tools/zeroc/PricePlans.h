//===- PricePlans.h - plan the rows of the price table ----------*- C++ -*-===//

#ifndef TOOLS_ZEROC_PRICEPLANS_H
#define TOOLS_ZEROC_PRICEPLANS_H

#include "PriceRows.h"

namespace zero {

/// Plans `model` by the options of each of `attempts`, on all cores, and fills in their prices on
/// `machine`, or the reason why there is none.
void planAll(mlir::ModuleOp model, const planning::Machine &machine,
             std::vector<PriceAttempt> &attempts);

} // namespace zero

#endif // TOOLS_ZEROC_PRICEPLANS_H
