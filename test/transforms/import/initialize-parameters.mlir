// RUN: zero-opt %s --zero-initialize-parameters=scheme=normal:0.02 | FileCheck %s --check-prefixes=CHECK,NORMAL
// RUN: zero-opt %s --zero-initialize-parameters=scheme=uniform:0.5 | FileCheck %s --check-prefixes=CHECK,UNIFORM
// RUN: zero-opt %s --zero-initialize-parameters=scheme=xavier-uniform | FileCheck %s --check-prefixes=CHECK,XAVIER
// RUN: zero-opt %s --zero-initialize-parameters=scheme=kaiming-normal | FileCheck %s --check-prefixes=CHECK,KAIMING

// Matrices are drawn, each by its own name. xavier: sqrt(6 / (8 + 24)). kaiming: sqrt(2 / inputs),
// of 8 inputs where B is not transposed, of 24 where it is.
// NORMAL: zero.parameter @weight {{.*}}random = #zero.random<normal, 0.000000e+00 : f64, 2.000000e-02 : f64, [[STREAM:[0-9]+]]>
// NORMAL-NOT: [[STREAM]]
// UNIFORM: zero.parameter @weight {{.*}}#zero.random<uniform, -5.000000e-01 : f64, 5.000000e-01 : f64
// XAVIER: zero.parameter @weight {{.*}}#zero.random<uniform, -0.4330{{.*}} : f64, 0.4330{{.*}} : f64
// KAIMING: zero.parameter @weight {{.*}}#zero.random<normal, 0.000000e+00 : f64, 5.000000e-01 : f64
// XAVIER: zero.parameter @linear {{.*}}0.4330
// KAIMING: zero.parameter @linear {{.*}}, 0.2886{{[0-9]*}} : f64
// A convolution of 4 channels by 3 x 3 has 36 inputs, and 16 x 9 outputs.
// XAVIER: zero.parameter @filter {{.*}}, 0.1825{{[0-9]*}} : f64
// KAIMING: zero.parameter @filter {{.*}}, 0.2357{{[0-9]*}} : f64
// Vectors that scale are one, others zero.
// CHECK: zero.parameter @scale : tensor<8xf32> {splat = 1.000000e+00 : f64}
// CHECK: zero.parameter @bias : tensor<24xf32> {splat = 0.000000e+00 : f64}
// CHECK: zero.parameter @frozen {{.*}}frozen{{.*}}random
// CHECK: zero.state constant @mask : tensor<2x8xf32> {data =
zero.parameter @weight : tensor<8x24xf32> {data = #zero.data<"absent.data", 0, 768>}
zero.parameter @linear : tensor<8x24xf32> {required}
zero.parameter @filter : tensor<16x4x3x3xf32> {splat = 2.0 : f64}
zero.parameter @scale : tensor<8xf32> {data = #zero.data<"absent.data", 768, 32>}
zero.parameter @bias : tensor<24xf32> {data = #zero.data<"absent.data", 800, 96>}
zero.parameter @frozen : tensor<8x24xf32> {frozen, data = #zero.data<"absent.data", 896, 768>}
zero.state constant @mask : tensor<2x8xf32> {data = #zero.data<"absent.data", 1664, 64>}
func.func @step(%x: tensor<2x8xf32>) -> tensor<2x24xf32> {
  %scale = zero.read @scale : tensor<8xf32>
  %0 = onnx.node "LayerNormalization"(%x, %scale) {} opset 18 : (tensor<2x8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  %weight = zero.read @weight : tensor<8x24xf32>
  %1 = onnx.node "MatMul"(%0, %weight) {} opset 18 : (tensor<2x8xf32>, tensor<8x24xf32>) -> tensor<2x24xf32>
  %bias = zero.read @bias : tensor<24xf32>
  %2 = onnx.node "Add"(%1, %bias) {} opset 18 : (tensor<2x24xf32>, tensor<24xf32>) -> tensor<2x24xf32>
  %linear = zero.read @linear : tensor<8x24xf32>
  %3 = onnx.node "Gemm"(%2, %linear) {transB = 1 : i64} opset 18 : (tensor<2x24xf32>, tensor<8x24xf32>) -> tensor<2x8xf32>
  %4 = onnx.node "MatMul"(%3, %weight) {} opset 18 : (tensor<2x8xf32>, tensor<8x24xf32>) -> tensor<2x24xf32>
  return %4 : tensor<2x24xf32>
}
