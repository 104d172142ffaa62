//===- Translate.h - the work of zero-translate -----------------*- C++ -*-===//

#ifndef TOOLS_ZERO_TRANSLATE_TRANSLATE_H
#define TOOLS_ZERO_TRANSLATE_TRANSLATE_H

#include "zero/Import/Import.h"

#include "llvm/Support/raw_ostream.h"

namespace zero {

/// One line for each operator of the table, its columns apart by tabs: domain, name,
/// first and last opset, gradient, unsigned integers, file. The compiler's own
/// operators are left out.
void listOperators(llvm::raw_ostream &os);

/// Imports the model `input`, with `shapes` for its inputs, and writes its text to `output`, with
/// locations if asked. False after an error.
bool translate(const std::string &input, ImportOptions options, const std::string &shapes,
               const std::string &output, bool locations);

} // namespace zero

#endif // TOOLS_ZERO_TRANSLATE_TRANSLATE_H
