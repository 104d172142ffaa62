//===- Mlp.h - activations and the block behind attention -------*- C++ -*-===//

#ifndef LIB_FRONTENDS_HUGGINGFACE_MLP_H
#define LIB_FRONTENDS_HUGGINGFACE_MLP_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace zero::hf {

/// Whether `name` is a value of hidden_act that is built.
bool isActivation(llvm::StringRef name);
/// All of them, for messages.
std::string listActivations();

} // namespace zero::hf

#endif // LIB_FRONTENDS_HUGGINGFACE_MLP_H
