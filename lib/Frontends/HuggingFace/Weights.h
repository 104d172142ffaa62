//===- Weights.h - safetensors of a folder ----------------------*- C++ -*-===//

#ifndef LIB_FRONTENDS_HUGGINGFACE_WEIGHTS_H
#define LIB_FRONTENDS_HUGGINGFACE_WEIGHTS_H

#include "dialects/Zero/Zero.h"
#include "runtime/io/safetensors.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace zero::hf {

/// Where the tensors of a folder are stored: in model.safetensors, or in the files that
/// model.safetensors.index.json lists. Only headers are read.
class Weights {
public:
  /// Without `folder` there are none, and every parameter is required of the run.
  Weights() = default;

  /// Lists the tensors of `folder`. Fails after an error. A folder without the two files is left
  /// without weights, after a warning.
  mlir::LogicalResult open(llvm::StringRef folder, mlir::Location loc);

  bool isOpen() const { return opened; }

  /// The name under which the parameter `name` is stored: `name`, or what is behind `stem` in it,
  /// where a file was written from the module inside. Empty: neither is there.
  llvm::StringRef storedName(llvm::StringRef name, llvm::StringRef stem) const;

  /// The bytes of the tensor `name`, which has to be of `type`. Null after an error, for which
  /// errors are counted.
  DataAttr find(llvm::StringRef name, mlir::RankedTensorType type, mlir::Location loc);

  /// Warns if the files have `alias`, which is tied to `name`, too.
  void checkTied(llvm::StringRef name, llvm::StringRef alias, mlir::Location loc);

  /// Warns of tensors that no parameter took, which are not trained and not saved.
  void warnOfUnused(mlir::Location loc) const;
  bool hasErrors() const { return errors > 0; }

private:
  struct Tensor {
    std::string file;
    uint64_t offset = 0;
    rt::Array array; ///< without bytes
  };

  mlir::LogicalResult openIndex(llvm::StringRef folder, mlir::Location loc);
  mlir::LogicalResult openFile(llvm::StringRef folder, llvm::StringRef file, mlir::Location loc);

  llvm::StringMap<Tensor> tensors;
  llvm::StringSet<> used;
  bool opened = false;
  unsigned errors = 0;
};

} // namespace zero::hf

#endif // LIB_FRONTENDS_HUGGINGFACE_WEIGHTS_H
