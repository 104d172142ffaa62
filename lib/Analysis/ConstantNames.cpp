//===- ConstantNames.cpp - names of constants -----------------------------===//

#include "zero/Analysis/ConstantNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Regex.h"

using llvm::StringRef;

namespace zero {

bool isMadeUpName(StringRef name) {
  // val_12, _to_copy_1, onnx::MatMul_7, /layer/Mul_output_0; in old versions 12.
  static const llvm::Regex madeUp("^(val|_to_copy|Constant|lifted_tensor|c_lifted_tensor)_?[0-9]*"
                                  "([._]|$)|[/:[:space:]]|^[0-9]+$");
  return madeUp.match(name);
}

bool isModulePath(StringRef name, bool mayBeOutermost) {
  llvm::SmallVector<StringRef> parts;
  name.split(parts, '.');
  return (parts.size() > 1 || mayBeOutermost) &&
         llvm::none_of(parts, [](StringRef part) { return part.empty(); }) && !isMadeUpName(name);
}

} // namespace zero
