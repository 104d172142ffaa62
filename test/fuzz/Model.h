//===- Model.h - mutates ONNX models ----------------------------*- C++ -*-===//

#ifndef TEST_FUZZ_MODEL_H
#define TEST_FUZZ_MODEL_H

#include "Random.h"

#include "onnx/onnx_pb.h"

#include <string>
#include <vector>

namespace zero::fuzz {

/// The strings from which mutants are made.
struct Vocabulary {
  std::vector<std::string> operators; ///< of ONNX's domain
  std::vector<std::string> words;     ///< paths, attribute names and the like
};

/// All operators of ONNX, and words that cause errors in importers.
Vocabulary onnxVocabulary();

/// Makes one to four changes to `model` that keep it a ModelProto: fields, types, shapes, wiring,
/// attributes, functions, subgraphs, external data. Nodes may be copied from the model `other`.
void mutateModel(::onnx::ModelProto &model, const ::onnx::ModelProto &other,
                 const Vocabulary &vocabulary, Random &random);

/// Removes the bytes of large float tensors from `model` and refers to `file` instead, so that
/// mutants of large models are small. The file must be long enough.
void shrinkWeights(::onnx::ModelProto &model, const std::string &file);

} // namespace zero::fuzz

#endif // TEST_FUZZ_MODEL_H
