//===- Error.h - errors of the importer -------------------------*- C++ -*-===//
// The ONNX library throws exceptions, so lib/Import is built with exceptions and uses them itself;
// importOnnx catches all of them at the boundary.
//===----------------------------------------------------------------------===//

#ifndef LIB_IMPORT_ERROR_H
#define LIB_IMPORT_ERROR_H

#include "onnx/onnx_pb.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Twine.h"

#include <string>
#include <vector>

/// The ONNX library's namespace; `zero::onnx` is the dialect's.
namespace pb = ::onnx;

namespace zero::importer {

struct ImportError {
  std::string message;
  std::vector<std::string> notes;
  std::string remedy; ///< printed before the notes, if there is one
};

[[noreturn]] inline void fail(const llvm::Twine &message, std::vector<std::string> notes = {},
                              std::string remedy = "") {
  throw ImportError{message.str(), std::move(notes), std::move(remedy)};
}

/// `name` in quotes; names come from the model, so control characters are escaped.
std::string quote(llvm::StringRef name);

/// The node's name or, if it has none, its first result's.
llvm::StringRef nodeName(const pb::NodeProto &node);

/// "Gemm node 'fc1'".
std::string describe(const pb::NodeProto &node);

} // namespace zero::importer

#endif // LIB_IMPORT_ERROR_H
