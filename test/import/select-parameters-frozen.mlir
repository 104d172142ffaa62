// RUN: zero-opt %s --zero-select-parameters 2>%t.err | FileCheck %s
// RUN: count 0 < %t.err
// RUN: zero-opt %s --zero-select-parameters=freeze=net.head | FileCheck %s --check-prefix=MORE
// RUN: zero-opt %s '--zero-select-parameters=freeze-all-but=*' | FileCheck %s --check-prefix=ALL

// What was frozen in the module stays so, and adapters cause no warning. Patterns freeze more; a
// rule that says what is trained replaces the record.
// CHECK-DAG: zero.parameter @net.base : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>, frozen}
// CHECK-DAG: zero.parameter @net.lora_A : tensor<4xf32> {data = #zero.data<"m.onnx", 16, 16>}{{$}}
// CHECK-DAG: zero.parameter @net.head : tensor<4xf32> {data = #zero.data<"m.onnx", 32, 16>}{{$}}
// MORE-DAG: zero.parameter @net.base : {{.*}}frozen}
// MORE-DAG: zero.parameter @net.head : {{.*}}frozen}
// ALL-NOT: frozen}

zero.state constant @net.base : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>, zero.exported_as = "parameter", zero.exported_frozen}
zero.state constant @net.lora_A : tensor<4xf32> {data = #zero.data<"m.onnx", 16, 16>, zero.exported_as = "parameter"}
zero.state constant @net.head : tensor<4xf32> {data = #zero.data<"m.onnx", 32, 16>, zero.exported_as = "parameter"}

func.func @step(%x: tensor<4xf32> {zero.binding = "x"}) -> (tensor<f32> {zero.binding = "loss"}) {
  %b = zero.read @net.base : tensor<4xf32>
  %a = zero.read @net.lora_A : tensor<4xf32>
  %h = zero.read @net.head : tensor<4xf32>
  %0 = onnx.node "Mul"(%x, %b) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = onnx.node "Add"(%0, %a) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = onnx.node "Mul"(%1, %h) {} opset 18 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %loss = onnx.node "ReduceMean"(%2) {keepdims = 0 : i64} opset 18 : (tensor<4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
