//===- ConstantNames.cpp - names of constants -----------------------------===//

#include "zero/Analysis/ConstantNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Regex.h"

using llvm::StringRef;

namespace zero {

bool isMadeUpName(StringRef name) {
  // val_12, _to_copy_1, onnx::MatMul_7, /layer/Mul_output_0.
  static const llvm::Regex madeUp("^(val|_to_copy|Constant|lifted_tensor|c_lifted_tensor)_?[0-9]*"
                                  "([._]|$)|[/:[:space:]]");
  return madeUp.match(name);
}

bool isModulePath(StringRef name) {
  llvm::SmallVector<StringRef> parts;
  name.split(parts, '.');
  return parts.size() > 1 && llvm::none_of(parts, [](StringRef part) { return part.empty(); }) &&
         !isMadeUpName(name);
}

} // namespace zero
