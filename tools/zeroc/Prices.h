//===- Prices.h - compare ways to train a model -----------------*- C++ -*-===//
// Each row of the table is planned as its own command line says: the words that the table prints
// are those that were read.
//===----------------------------------------------------------------------===//

#ifndef TOOLS_ZEROC_PRICES_H
#define TOOLS_ZEROC_PRICES_H

#include "zero/Driver/Compiler.h"

namespace zero {

/// What is wrong with `options` of --prices before there are rows, or nothing.
std::string checkPrices(const CompilerOptions &options);

/// Plans all ways to train the model of `options` and prints the table to `output`, and to the
/// reports. Fails after an error if the model cannot be read or a flag has no effect on any row.
llvm::LogicalResult priceModel(CompilerOptions &options, llvm::raw_ostream &output);

} // namespace zero

#endif // TOOLS_ZEROC_PRICES_H
