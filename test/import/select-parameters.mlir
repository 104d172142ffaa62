// RUN: zero-opt %s --zero-select-parameters | FileCheck %s
// RUN: zero-opt %s --zero-select-parameters --remark-format=emitRemark --remarks-filter=parameters -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: zero-opt %s --zero-select-parameters='freeze=net.fc*,net.emb.?eight' | FileCheck %s --check-prefix=FROZEN
// RUN: echo "net.rotary.inv_freq # a comment" > %t.list && echo "" >> %t.list
// RUN: echo net.rotary.inv_freq > %t.list && echo net.fc.weight >> %t.list
// RUN: zero-opt %s --zero-select-parameters=trainable=%t.list | FileCheck %s --check-prefix=LIST

// A weight, a rotary table, a mask, running statistics, an exporter's name, and an unused constant.
// CHECK-DAG: zero.parameter @net.fc.weight : tensor<4x4xf32> {data = #zero.data<"m.onnx", 0, 64>}
// CHECK-DAG: zero.parameter @net.emb.weight
// CHECK-DAG: zero.parameter @net.bias.weight
// CHECK-DAG: zero.parameter @net.bn.weight
// CHECK-DAG: zero.parameter @net.siren.weight
// CHECK-DAG: zero.state {{ *}}constant @net.rotary.inv_freq
// CHECK-DAG: zero.state {{ *}}constant @net.mask
// CHECK-DAG: zero.state {{ *}}constant @net.bn.running_mean
// CHECK-DAG: zero.state {{ *}}constant @val_7
// CHECK-DAG: zero.state {{ *}}constant @"onnx::MatMul_1.x"
// CHECK-NOT: net.unused
// CHECK: func.func @step

// REMARK: left-out | {{.*}}net.rotary.inv_freq: 2xf32, a rotary table: it reaches the loss only through Cos and Sin
// REMARK: left-out | {{.*}}net.mask: 4x4xf32, a mask: it is only added to or selected into a Softmax's input
// REMARK: left-out | {{.*}}net.bn.running_mean: 4xf32, running statistics of a BatchNormalization
// REMARK: left-out | {{.*}}val_7: 4x4xf32, its name is not that of a module's tensor
// REMARK: left-out | {{.*}}onnx::MatMul_1.x: 4x4xf32, its name is not that of a module's tensor
// REMARK: left-out | {{.*}}net.unused.weight: 4x4xf32, it does not reach the loss
// REMARK: trained | {{.*}}net.fc.weight: 4x4xf32

// FROZEN-DAG: zero.parameter @net.fc.weight : tensor<4x4xf32> {data = {{.*}}, frozen}
// FROZEN-DAG: zero.parameter @net.emb.weight : tensor<4x4xf32> {data = {{.*}}, frozen}
// FROZEN-DAG: zero.parameter @net.bias.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}{{$}}

// A pattern in the list selects only constants that reach the loss.
// RUN: echo 'net.*.weight' > %t.globs && echo 'onnx::*' >> %t.globs
// RUN: zero-opt %s --zero-select-parameters=trainable=%t.globs | FileCheck %s --check-prefix=GLOBS
// GLOBS-DAG: zero.parameter @net.fc.weight : tensor<4x4xf32> {data = #zero.data<"m.onnx", 0, 64>}
// GLOBS-DAG: zero.parameter @net.siren.weight : tensor<4x2xf32> {data = #zero.data<"m.onnx", 0, 32>}
// GLOBS-DAG: zero.parameter @"onnx::MatMul_1.x" : tensor<4x4xf32> {data = #zero.data<"m.onnx", 0, 64>}
// GLOBS-DAG: zero.state {{ *}}constant @net.mask
// GLOBS-NOT: net.unused

// A constant that the list omits is frozen if it would be trained without a list. Otherwise it is
// unchanged.
// LIST-DAG: zero.parameter @net.rotary.inv_freq : tensor<2xf32> {data = #zero.data<"m.onnx", 0, 8>}
// LIST-DAG: zero.parameter @net.fc.weight : tensor<4x4xf32> {data = #zero.data<"m.onnx", 0, 64>}
// LIST-DAG: zero.parameter @net.emb.weight : tensor<4x4xf32> {data = {{.*}}, frozen}
// LIST-DAG: zero.parameter @net.bn.weight : tensor<4xf32> {data = {{.*}}, frozen}
// LIST-DAG: zero.state {{ *}}constant @net.mask
// LIST-DAG: zero.state {{ *}}constant @net.bn.running_mean
// LIST-DAG: zero.state {{ *}}constant @val_7

// The same selection by the inverse list, and by what is frozen.
// RUN: zero-opt %s --zero-select-parameters='freeze-all-but=net.fc.*,net.b*.weight' | FileCheck %s --check-prefix=ALLBUT
// RUN: zero-opt %s --zero-select-parameters='freeze-all-but=net.fc.*,net.b*.weight' -o %t.allbut
// RUN: printf 'net.fc.*\nnet.b*.weight\n' > %t.same && zero-opt %s --zero-select-parameters=trainable=%t.same -o %t.listed
// RUN: zero-opt %s --zero-select-parameters='freeze=net.emb.*,net.siren.*' -o %t.frozen
// RUN: cmp %t.allbut %t.listed && cmp %t.allbut %t.frozen
// ALLBUT-DAG: zero.parameter @net.fc.weight : tensor<4x4xf32> {data = #zero.data<"m.onnx", 0, 64>}
// ALLBUT-DAG: zero.parameter @net.bias.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
// ALLBUT-DAG: zero.parameter @net.bn.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
// ALLBUT-DAG: zero.parameter @net.emb.weight : tensor<4x4xf32> {data = {{.*}}, frozen}
// ALLBUT-DAG: zero.parameter @net.siren.weight : tensor<4x2xf32> {data = {{.*}}, frozen}
// ALLBUT-DAG: zero.state {{ *}}constant @net.bn.running_mean

// A pattern skips all buffers.
// RUN: echo 'net.*' > %t.all && zero-opt %s --zero-select-parameters=trainable=%t.all | FileCheck %s --check-prefix=PASSED
// PASSED-DAG: zero.parameter @net.emb.weight : tensor<4x4xf32> {data = #zero.data<"m.onnx", 0, 64>}
// PASSED-DAG: zero.state {{ *}}constant @net.rotary.inv_freq
// PASSED-DAG: zero.state {{ *}}constant @net.mask
// PASSED-DAG: zero.state {{ *}}constant @net.bn.running_mean

zero.state constant @net.rotary.inv_freq : tensor<2xf32> {data = #zero.data<"m.onnx", 0, 8>}
zero.state constant @net.mask : tensor<4x4xf32> {data = #zero.data<"m.onnx", 0, 64>}
zero.state constant @net.bn.running_mean : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
zero.state constant @val_7 : tensor<4x4xf32> {data = #zero.data<"m.onnx", 0, 64>}
zero.state constant @"onnx::MatMul_1.x" : tensor<4x4xf32> {data = #zero.data<"m.onnx", 0, 64>}
zero.state constant @net.unused.weight : tensor<4x4xf32> {data = #zero.data<"m.onnx", 0, 64>}
zero.state constant @net.fc.weight : tensor<4x4xf32> {data = #zero.data<"m.onnx", 0, 64>}
zero.state constant @net.emb.weight : tensor<4x4xf32> {data = #zero.data<"m.onnx", 0, 64>}
zero.state constant @net.bias.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
zero.state constant @net.bn.weight : tensor<4xf32> {data = #zero.data<"m.onnx", 0, 16>}
zero.state constant @net.siren.weight : tensor<4x2xf32> {data = #zero.data<"m.onnx", 0, 32>}

func.func @step(%x: tensor<4x4xf32> {zero.binding = "x"}, %p: tensor<4x1xi64> {zero.binding = "positions"}) -> (tensor<f32> {zero.binding = "loss"}) {
  %inv = zero.read @net.rotary.inv_freq : tensor<2xf32>
  %mask = zero.read @net.mask : tensor<4x4xf32>
  %mean = zero.read @net.bn.running_mean : tensor<4xf32>
  %val = zero.read @val_7 : tensor<4x4xf32>
  %made = zero.read @"onnx::MatMul_1.x" : tensor<4x4xf32>
  %unused = zero.read @net.unused.weight : tensor<4x4xf32>
  %w = zero.read @net.fc.weight : tensor<4x4xf32>
  %e = zero.read @net.emb.weight : tensor<4x4xf32>
  %b = zero.read @net.bias.weight : tensor<4xf32>
  %s = zero.read @net.bn.weight : tensor<4xf32>
  %siren = zero.read @net.siren.weight : tensor<4x2xf32>
  %pf = onnx.node "Cast"(%p) {to = 1 : i64} opset 18 : (tensor<4x1xi64>) -> tensor<4x1xf32>
  %angle = onnx.node "Mul"(%pf, %inv) {} opset 18 : (tensor<4x1xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  %cos = onnx.node "Cos"(%angle) {} opset 18 : (tensor<4x2xf32>) -> tensor<4x2xf32>
  // A layer whose activation is a sine: its weight is not a rotary table.
  %xs = onnx.node "MatMul"(%x, %siren) {} opset 18 : (tensor<4x4xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %sin = onnx.node "Sin"(%xs) {} opset 18 : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %rot = onnx.node "Mul"(%cos, %sin) {} opset 18 : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %y0 = onnx.node "MatMul"(%x, %w) {} opset 18 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %y1 = onnx.node "MatMul"(%y0, %val) {} opset 18 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %y2 = onnx.node "MatMul"(%y1, %made) {} opset 18 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %bn = onnx.node "BatchNormalization"(%y2, %s, %s, %mean, %mean) {} opset 18 : (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  // A learned bias that is looked up, and a bias of the logits: both are trained.
  %row = onnx.node "Gather"(%e, %p) {axis = 0 : i64} opset 18 : (tensor<4x4xf32>, tensor<4x1xi64>) -> tensor<4x1x4xf32>
  %bias = onnx.node "Reshape"(%row) {} opset 18 : (tensor<4x1x4xf32>) -> tensor<4x4xf32>
  %a0 = onnx.node "Add"(%bn, %bias) {} opset 18 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %a1 = onnx.node "Add"(%a0, %b) {} opset 18 : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %a2 = onnx.node "Add"(%a1, %mask) {} opset 18 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %sm = onnx.node "Softmax"(%a2) {axis = -1 : i64} opset 18 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %m = onnx.node "MatMul"(%sm, %rot) {} opset 18 : (tensor<4x4xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %loss = onnx.node "ReduceMean"(%m) {keepdims = 0 : i64} opset 18 : (tensor<4x2xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
