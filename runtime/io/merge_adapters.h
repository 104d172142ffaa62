//===- merge_adapters.h - add adapters to the weights they adapt -*- C++ -*-===//

#ifndef RUNTIME_IO_MERGE_ADAPTERS_H
#define RUNTIME_IO_MERGE_ADAPTERS_H

#include "runtime/io/tensor_entry.h"

namespace zero::rt {

/// Adds what its adapter adds to each entry that has one, and takes the adapters away, as
/// merge_and_unload() of PEFT does. Sums are f32, f64 beside f64, and so are the entries, which
/// whoever writes them rounds once. Nothing is read before an entry is. Fails if no entry has an
/// adapter, or if an adapter is left that no entry has.
Status mergeAdapters(std::vector<TensorEntry> &entries);

} // namespace zero::rt

#endif // RUNTIME_IO_MERGE_ADAPTERS_H
