//===- Shapes.h - shapes of inputs ------------------------------*- C++ -*-===//

#ifndef LIB_IMPORT_SHAPES_H
#define LIB_IMPORT_SHAPES_H

#include "ModelFile.h"
#include "zero/Import/Import.h"

namespace zero::importer {

struct TensorShape {
  int32_t type = 0;
  Dims dims;
};

/// The same for the ONNX library.
pb::TypeProto toProto(const TensorShape &shape);

/// An input of the step.
struct Input {
  std::string name;
  TensorShape shape;
};

/// The graph's inputs that are no constants, with all symbolic dimensions bound.
/// Fails, listing inputs and their dimensions, if some are not. A `batch` that is not 0
/// is that of ImportOptions.
std::vector<Input> bindInputs(const Model &model, const ShapeBindings &bindings, int64_t batch);

} // namespace zero::importer

#endif // LIB_IMPORT_SHAPES_H
