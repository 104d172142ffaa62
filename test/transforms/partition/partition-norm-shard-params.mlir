// Norms where parameters are sharded within nodes of 2 of 4 ranks. The sums of blocks of a gradient
// are gathered from all ranks, in the order of their slices.
// RUN: zero-opt %s --zero-place-state="stage=3 ranks=4 ranks-per-node=2 shard-params=node" --zero-assign-buckets --zero-partition-step --zero-verify-partition | FileCheck %s

zero.parameter @w : tensor<200xf32>

// CHECK-LABEL: func.func @step
func.func @step(%dw: tensor<200xf32>, %l: tensor<f32>) -> (tensor<f32> {zero.binding = "loss"}, tensor<f64> {zero.binding = "square"}, tensor<f64> {zero.binding = "norm"}) {
  %gw = zero.gradient @w, %dw : tensor<200xf32> -> tensor<200xf32>
  // CHECK-DAG: zero.launch @square_blocks(%{{.*}}) {zero.name = "bucket0.norm", {{.*}}} : (tensor<1x64xf32>) -> tensor<1xf32>
  // CHECK-DAG: zero.all_gather %{{.*}} control over <[@local, @node]> {zero.name = "bucket0.norm", {{.*}}} : (tensor<1xf32>) -> tensor<4xf32>
  %sw = zero.square_sum %gw by [@square_blocks, @total] {zero.schedule = #zero.schedule<epilogue>} : (tensor<200xf32>) -> tensor<f64>
  // Those of the parameters come from the ranks of the node, which have all of them.
  // CHECK-DAG: zero.launch @square_blocks(%{{.*}}) {zero.name = "bucket0.squares", {{.*}}} : (tensor<2x64xf32>) -> tensor<2xf32>
  // CHECK-DAG: zero.all_gather %{{.*}} control over <[@local]> {zero.name = "bucket0.squares", {{.*}}} : (tensor<2xf32>) -> tensor<4xf32>
  %w = zero.read @w {zero.schedule = #zero.schedule<epilogue>} : tensor<200xf32>
  %norm = zero.square_sum %w by [@square_blocks, @total] {zero.schedule = #zero.schedule<epilogue>} : (tensor<200xf32>) -> tensor<f64>
  zero.update @w [], %gw by @update() {zero.schedule = #zero.schedule<epilogue>} : tensor<200xf32>
  return %l, %sw, %norm : tensor<f32>, tensor<f64>, tensor<f64>
}
func.func private @square_blocks(%x: tensor<?x64xf32>) -> tensor<?xf32> attributes {zero.kernel}
func.func private @total(%x: tensor<?xf32>) -> tensor<f64> attributes {zero.kernel}
func.func private @update(%p: tensor<?xf32> {zero.inplace = 0 : i64}, %g: tensor<?xf32>) -> tensor<?xf32> attributes {zero.kernel}
