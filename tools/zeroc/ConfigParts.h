//===- ConfigParts.h - parts of a configuration -----------------*- C++ -*-===//

#ifndef TOOLS_ZEROC_CONFIGPARTS_H
#define TOOLS_ZEROC_CONFIGPARTS_H

#include "ConfigBlock.h"

namespace zero {

/// zero_optimization.
void readZero(Config &config, ConfigBlock &top);
/// fp16, bf16, and the type in which gradients are added.
void readPrecision(Config &config, ConfigBlock &top);
/// optimizer and scheduler.
void readOptimizer(Config &config, ConfigBlock &top);
/// train_batch_size and its factors.
void readBatch(Config &config, ConfigBlock &top);
/// Clipping, and everything that has no meaning here.
void readRest(Config &config, ConfigBlock &top);

} // namespace zero

#endif // TOOLS_ZEROC_CONFIGPARTS_H
