//===- ListFrontends.h - front ends as JSON ---------------------*- C++ -*-===//

#ifndef TOOLS_ZEROC_LISTFRONTENDS_H
#define TOOLS_ZEROC_LISTFRONTENDS_H

#include "llvm/Support/raw_ostream.h"

namespace zero {

/// Writes what the table of front ends says as JSON.
void listFrontends(llvm::raw_ostream &os);

} // namespace zero

#endif // TOOLS_ZEROC_LISTFRONTENDS_H
