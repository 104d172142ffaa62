//===- Tensors.h - mutates ONNX tensors -------------------------*- C++ -*-===//

#ifndef TEST_FUZZ_TENSORS_H
#define TEST_FUZZ_TENSORS_H

#include "Random.h"

#include "onnx/onnx_pb.h"

#include <string>
#include <vector>

namespace zero::fuzz {

/// Changes the dimensions. Usually the data changes with them and is small.
void reshapeTensor(::onnx::TensorProto &tensor, Random &random);

/// Changes the element type. Usually the data changes with it.
void retypeTensor(::onnx::TensorProto &tensor, Random &random);

/// Sets one element to an extreme value of its type. False if the raw data has no element.
bool setValue(::onnx::TensorProto &tensor, Random &random);

/// Makes the data external, at one of `words` and a random offset.
void moveOutside(::onnx::TensorProto &tensor, const std::vector<std::string> &words,
                 Random &random);

} // namespace zero::fuzz

#endif // TEST_FUZZ_TENSORS_H
