func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 0 : i32,
                                   sdy.sharding = #sdy.sharding<@mesh, [{"model"}]>},
                %l: tensor<f32>) -> (tensor<4xf32>, tensor<f32>) {
  return %w, %l : tensor<4xf32>, tensor<f32>
}

// -----

func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 0 : i32},
                %x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"data"}]>},
                %l: tensor<f32>) -> (tensor<4xf32>, tensor<f32>) {
  return %w, %l : tensor<4xf32>, tensor<f32>
}

// -----

func.func @main(%w: tensor<4xf32> {tf.aliasing_output = 0 : i32},
                %x: tensor<8x4xf32> {mhlo.sharding = "{devices=[4,1]<=[4]}"},
                %l: tensor<f32>) -> (tensor<4xf32>, tensor<f32>) {
  return %w, %l : tensor<4xf32>, tensor<f32>
}
