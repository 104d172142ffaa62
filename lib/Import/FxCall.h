//===- FxCall.h - the PyTorch call of a node --------------------*- C++ -*-===//
//
// torch.onnx.export(dynamo=True) leaves in the metadata of each node the line of the
// FX graph that the node implements, under the key `pkg.torch.onnx.fx_node`:
//
//   %cross_entropy_loss : [num_users=1] = call_function[
//       target=torch.ops.aten.cross_entropy_loss.default](
//       args = (%linear, %y, None, 1, -100, 0.1), kwargs = {})
//
// A call may become several nodes; all of them carry the same line.
//
//===----------------------------------------------------------------------===//

#ifndef LIB_IMPORT_FXCALL_H
#define LIB_IMPORT_FXCALL_H

#include "onnx/onnx_pb.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace pb = ::onnx;

namespace zero::importer {

/// A parsed line. All strings are parts of the node's metadata.
struct FxCall {
  llvm::StringRef result; ///< without the leading `%`
  llvm::StringRef target; ///< "aten.cross_entropy_loss.default", without "torch.ops."
  llvm::SmallVector<llvm::StringRef> args;
  llvm::SmallVector<std::pair<llvm::StringRef, llvm::StringRef>> kwargs;

  /// "cross_entropy_loss": the operator without its namespace and overload.
  llvm::StringRef op() const;
  /// The text of the argument at `index`, or of the keyword argument `name`; "" where the
  /// call leaves it to its default.
  llvm::StringRef text(unsigned index, llvm::StringRef name) const;
  int64_t getInt(unsigned index, llvm::StringRef name, int64_t fallback) const;
  double getFloat(unsigned index, llvm::StringRef name, double fallback) const;
  bool getBool(unsigned index, llvm::StringRef name, bool fallback) const;
  /// Whether the argument is given and is not None.
  bool has(unsigned index, llvm::StringRef name) const;
};

/// The call that `node` was exported from, or nothing: the metadata is missing, or is not
/// of the form above.
std::optional<FxCall> parseCall(const pb::NodeProto &node);

/// Parses the text of the metadata.
std::optional<FxCall> parseCall(llvm::StringRef text);

} // namespace zero::importer

#endif // LIB_IMPORT_FXCALL_H
