//===- Tensors.h - mutates ONNX tensors -------------------------*- C++ -*-===//

#ifndef TEST_FUZZ_TENSORS_H
#define TEST_FUZZ_TENSORS_H

#include "Random.h"

#include "onnx/onnx_pb.h"

#include <string>
#include <vector>

namespace zero::fuzz {

/// Changes the dimensions; most of the time the data follow, and are few.
void reshapeTensor(::onnx::TensorProto &tensor, Random &random);

/// Changes the element type; most of the time the data follow.
void retypeTensor(::onnx::TensorProto &tensor, Random &random);

/// Sets one element to an edge of its type. False if there is none in raw data.
bool setValue(::onnx::TensorProto &tensor, Random &random);

/// Makes the data external: at one of `words`, anywhere.
void moveOutside(::onnx::TensorProto &tensor, const std::vector<std::string> &words,
                 Random &random);

} // namespace zero::fuzz

#endif // TEST_FUZZ_TENSORS_H
