//===- Model.h - mutates ONNX models ----------------------------*- C++ -*-===//

#ifndef TEST_FUZZ_MODEL_H
#define TEST_FUZZ_MODEL_H

#include "Random.h"

#include "onnx/onnx_pb.h"

#include <string>
#include <vector>

namespace zero::fuzz {

/// What mutants are made of.
struct Vocabulary {
  std::vector<std::string> operators; ///< of ONNX's domain
  std::vector<std::string> words;     ///< paths, attribute names and the like
};

/// All operators of ONNX's domain, and words that importers trip over.
Vocabulary onnxVocabulary();

/// Makes one to four changes to `model` that keep it a ModelProto: fields, types,
/// shapes, wiring, attributes, functions, subgraphs, external data. `other` is a
/// model to borrow nodes from.
void mutateModel(::onnx::ModelProto &model, const ::onnx::ModelProto &other,
                 const Vocabulary &vocabulary, Random &random);

/// Takes the bytes of large float tensors out of `model` and refers to `file`
/// instead, which must be long enough, so that mutants of large models are small.
void shrinkWeights(::onnx::ModelProto &model, const std::string &file);

} // namespace zero::fuzz

#endif // TEST_FUZZ_MODEL_H
