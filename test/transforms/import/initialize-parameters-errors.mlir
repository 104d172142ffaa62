// RUN: not zero-opt %s --zero-initialize-parameters=scheme=orthogonal 2>&1 | FileCheck %s -DGOT=orthogonal
// RUN: not zero-opt %s --zero-initialize-parameters=scheme=normal 2>&1 | FileCheck %s -DGOT=normal
// RUN: not zero-opt %s --zero-initialize-parameters=scheme=normal:-1 2>&1 | FileCheck %s -DGOT=normal:-1
// RUN: not zero-opt %s --zero-initialize-parameters=scheme=xavier-normal:2 2>&1 | FileCheck %s -DGOT=xavier-normal:2

// CHECK: error: --init: expected normal:STD, uniform:BOUND, xavier-normal, xavier-uniform, kaiming-normal or kaiming-uniform, got '[[GOT]]'
func.func @step(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  return %x : tensor<2x8xf32>
}
