"builtin.module"() <{sym_name = "jit_train_step"}> ({
  "func.func"() <{arg_attrs = [{tf.aliasing_output = 0 : i32}, {tf.aliasing_output = 1 : i32}, {tf.aliasing_output = 2 : i32}, {tf.aliasing_output = 3 : i32}, {tf.aliasing_output = 4 : i32}, {tf.aliasing_output = 5 : i32}, {tf.aliasing_output = 6 : i32}, {tf.aliasing_output = 7 : i32}, {tf.aliasing_output = 8 : i32}, {tf.aliasing_output = 9 : i32}, {tf.aliasing_output = 10 : i32}, {tf.aliasing_output = 11 : i32}, {tf.aliasing_output = 12 : i32}, {}, {}], function_type = (tensor<32xf32>, tensor<64x32xf32>, tensor<10xf32>, tensor<32x10xf32>, tensor<32xf32>, tensor<64x32xf32>, tensor<10xf32>, tensor<32x10xf32>, tensor<32xf32>, tensor<64x32xf32>, tensor<10xf32>, tensor<32x10xf32>, tensor<i32>, tensor<8x64xf32>, tensor<8xi32>) -> (tensor<32xf32>, tensor<64x32xf32>, tensor<10xf32>, tensor<32x10xf32>, tensor<32xf32>, tensor<64x32xf32>, tensor<10xf32>, tensor<32x10xf32>, tensor<32xf32>, tensor<64x32xf32>, tensor<10xf32>, tensor<32x10xf32>, tensor<i32>, tensor<f32>), res_attrs = [{jax.result_info = "result[0]['fc1']['b']"}, {jax.result_info = "result[0]['fc1']['w']"}, {jax.result_info = "result[0]['fc2']['b']"}, {jax.result_info = "result[0]['fc2']['w']"}, {jax.result_info = "result[1]['mean']['fc1']['b']"}, {jax.result_info = "result[1]['mean']['fc1']['w']"}, {jax.result_info = "result[1]['mean']['fc2']['b']"}, {jax.result_info = "result[1]['mean']['fc2']['w']"}, {jax.result_info = "result[1]['square']['fc1']['b']"}, {jax.result_info = "result[1]['square']['fc1']['w']"}, {jax.result_info = "result[1]['square']['fc2']['b']"}, {jax.result_info = "result[1]['square']['fc2']['w']"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg21: tensor<32xf32>, %arg22: tensor<64x32xf32>, %arg23: tensor<10xf32>, %arg24: tensor<32x10xf32>, %arg25: tensor<32xf32>, %arg26: tensor<64x32xf32>, %arg27: tensor<10xf32>, %arg28: tensor<32x10xf32>, %arg29: tensor<32xf32>, %arg30: tensor<64x32xf32>, %arg31: tensor<10xf32>, %arg32: tensor<32x10xf32>, %arg33: tensor<i32>, %arg34: tensor<8x64xf32>, %arg35: tensor<8xi32>):
    %59 = "stablehlo.dot_general"(%arg34, %arg22) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
    %60 = "stablehlo.broadcast_in_dim"(%arg21) <{broadcast_dimensions = array<i64: 1>}> : (tensor<32xf32>) -> tensor<1x32xf32>
    %61 = "stablehlo.broadcast_in_dim"(%60) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x32xf32>) -> tensor<8x32xf32>
    %62 = "stablehlo.add"(%59, %61) : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
    %63 = "func.call"(%62) <{callee = @relu}> : (tensor<8x32xf32>) -> tensor<8x32xf32>
    %64 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %65 = "stablehlo.broadcast_in_dim"(%64) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x32xf32>
    %66 = "stablehlo.compare"(%62, %65) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xi1>
    %67 = "stablehlo.dot_general"(%63, %arg24) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<8x32xf32>, tensor<32x10xf32>) -> tensor<8x10xf32>
    %68 = "stablehlo.broadcast_in_dim"(%arg23) <{broadcast_dimensions = array<i64: 1>}> : (tensor<10xf32>) -> tensor<1x10xf32>
    %69 = "stablehlo.broadcast_in_dim"(%68) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x10xf32>) -> tensor<8x10xf32>
    %70 = "stablehlo.add"(%67, %69) : (tensor<8x10xf32>, tensor<8x10xf32>) -> tensor<8x10xf32>
    %71:3 = "func.call"(%70) <{callee = @log_softmax}> : (tensor<8x10xf32>) -> (tensor<8x10xf32>, tensor<8x10xf32>, tensor<8x1xf32>)
    %72 = "stablehlo.broadcast_in_dim"(%arg35) <{broadcast_dimensions = array<i64: 0>}> : (tensor<8xi32>) -> tensor<8x1xi32>
    %73:2 = "func.call"(%71#0, %72) <{callee = @take_along_axis}> : (tensor<8x10xf32>, tensor<8x1xi32>) -> (tensor<8x1xf32>, tensor<8x1x1xi32>)
    %74 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %75 = "stablehlo.reduce"(%73#0, %74) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg44: tensor<f32>, %arg45: tensor<f32>):
      %278 = "stablehlo.add"(%arg44, %arg45) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%278) : (tensor<f32>) -> ()
    }) : (tensor<8x1xf32>, tensor<f32>) -> tensor<f32>
    %76 = "stablehlo.constant"() <{value = dense<8.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %77 = "stablehlo.divide"(%75, %76) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %78 = "stablehlo.negate"(%77) : (tensor<f32>) -> tensor<f32>
    %79 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %80 = "stablehlo.negate"(%79) : (tensor<f32>) -> tensor<f32>
    %81 = "stablehlo.constant"() <{value = dense<8.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %82 = "stablehlo.divide"(%80, %81) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %83 = "stablehlo.broadcast_in_dim"(%82) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x1xf32>
    %84 = "func.call"(%73#1, %83) <{callee = @take_along_axis_0}> : (tensor<8x1x1xi32>, tensor<8x1xf32>) -> tensor<8x10xf32>
    %85 = "func.call"(%71#1, %71#2, %84) <{callee = @log_softmax_1}> : (tensor<8x10xf32>, tensor<8x1xf32>, tensor<8x10xf32>) -> tensor<8x10xf32>
    %86 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %87 = "stablehlo.reduce"(%85, %86) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg42: tensor<f32>, %arg43: tensor<f32>):
      %277 = "stablehlo.add"(%arg42, %arg43) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%277) : (tensor<f32>) -> ()
    }) : (tensor<8x10xf32>, tensor<f32>) -> tensor<10xf32>
    %88 = "stablehlo.reshape"(%87) : (tensor<10xf32>) -> tensor<1x10xf32>
    %89 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %90 = "stablehlo.reduce"(%88, %89) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg40: tensor<f32>, %arg41: tensor<f32>):
      %276 = "stablehlo.add"(%arg40, %arg41) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%276) : (tensor<f32>) -> ()
    }) : (tensor<1x10xf32>, tensor<f32>) -> tensor<10xf32>
    %91 = "stablehlo.dot_general"(%85, %63) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<8x10xf32>, tensor<8x32xf32>) -> tensor<10x32xf32>
    %92 = "stablehlo.transpose"(%91) <{permutation = array<i64: 1, 0>}> : (tensor<10x32xf32>) -> tensor<32x10xf32>
    %93 = "stablehlo.dot_general"(%85, %arg24) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<8x10xf32>, tensor<32x10xf32>) -> tensor<8x32xf32>
    %94 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %95 = "stablehlo.broadcast_in_dim"(%94) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x32xf32>
    %96 = "stablehlo.select"(%66, %93, %95) : (tensor<8x32xi1>, tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
    %97 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %98 = "stablehlo.reduce"(%96, %97) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg38: tensor<f32>, %arg39: tensor<f32>):
      %275 = "stablehlo.add"(%arg38, %arg39) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%275) : (tensor<f32>) -> ()
    }) : (tensor<8x32xf32>, tensor<f32>) -> tensor<32xf32>
    %99 = "stablehlo.reshape"(%98) : (tensor<32xf32>) -> tensor<1x32xf32>
    %100 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %101 = "stablehlo.reduce"(%99, %100) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg36: tensor<f32>, %arg37: tensor<f32>):
      %274 = "stablehlo.add"(%arg36, %arg37) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%274) : (tensor<f32>) -> ()
    }) : (tensor<1x32xf32>, tensor<f32>) -> tensor<32xf32>
    %102 = "stablehlo.dot_general"(%96, %arg34) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<8x32xf32>, tensor<8x64xf32>) -> tensor<32x64xf32>
    %103 = "stablehlo.transpose"(%102) <{permutation = array<i64: 1, 0>}> : (tensor<32x64xf32>) -> tensor<64x32xf32>
    %104 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %105 = "stablehlo.add"(%arg33, %104) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %106 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %107 = "stablehlo.broadcast_in_dim"(%106) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %108 = "stablehlo.multiply"(%107, %arg25) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %109 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %110 = "stablehlo.broadcast_in_dim"(%109) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %111 = "stablehlo.multiply"(%110, %101) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %112 = "stablehlo.add"(%108, %111) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %113 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %114 = "stablehlo.broadcast_in_dim"(%113) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x32xf32>
    %115 = "stablehlo.multiply"(%114, %arg26) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %116 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %117 = "stablehlo.broadcast_in_dim"(%116) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x32xf32>
    %118 = "stablehlo.multiply"(%117, %103) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %119 = "stablehlo.add"(%115, %118) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %120 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %121 = "stablehlo.broadcast_in_dim"(%120) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<10xf32>
    %122 = "stablehlo.multiply"(%121, %arg27) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %123 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %124 = "stablehlo.broadcast_in_dim"(%123) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<10xf32>
    %125 = "stablehlo.multiply"(%124, %90) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %126 = "stablehlo.add"(%122, %125) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %127 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %128 = "stablehlo.broadcast_in_dim"(%127) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x10xf32>
    %129 = "stablehlo.multiply"(%128, %arg28) : (tensor<32x10xf32>, tensor<32x10xf32>) -> tensor<32x10xf32>
    %130 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %131 = "stablehlo.broadcast_in_dim"(%130) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x10xf32>
    %132 = "stablehlo.multiply"(%131, %92) : (tensor<32x10xf32>, tensor<32x10xf32>) -> tensor<32x10xf32>
    %133 = "stablehlo.add"(%129, %132) : (tensor<32x10xf32>, tensor<32x10xf32>) -> tensor<32x10xf32>
    %134 = "stablehlo.constant"() <{value = dense<9.990000e-01> : tensor<f32>}> : () -> tensor<f32>
    %135 = "stablehlo.broadcast_in_dim"(%134) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %136 = "stablehlo.multiply"(%135, %arg29) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %137 = "stablehlo.constant"() <{value = dense<1.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %138 = "stablehlo.broadcast_in_dim"(%137) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %139 = "stablehlo.multiply"(%138, %101) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %140 = "stablehlo.multiply"(%139, %101) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %141 = "stablehlo.add"(%136, %140) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %142 = "stablehlo.constant"() <{value = dense<9.990000e-01> : tensor<f32>}> : () -> tensor<f32>
    %143 = "stablehlo.broadcast_in_dim"(%142) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x32xf32>
    %144 = "stablehlo.multiply"(%143, %arg30) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %145 = "stablehlo.constant"() <{value = dense<1.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %146 = "stablehlo.broadcast_in_dim"(%145) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x32xf32>
    %147 = "stablehlo.multiply"(%146, %103) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %148 = "stablehlo.multiply"(%147, %103) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %149 = "stablehlo.add"(%144, %148) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %150 = "stablehlo.constant"() <{value = dense<9.990000e-01> : tensor<f32>}> : () -> tensor<f32>
    %151 = "stablehlo.broadcast_in_dim"(%150) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<10xf32>
    %152 = "stablehlo.multiply"(%151, %arg31) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %153 = "stablehlo.constant"() <{value = dense<1.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %154 = "stablehlo.broadcast_in_dim"(%153) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<10xf32>
    %155 = "stablehlo.multiply"(%154, %90) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %156 = "stablehlo.multiply"(%155, %90) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %157 = "stablehlo.add"(%152, %156) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %158 = "stablehlo.constant"() <{value = dense<9.990000e-01> : tensor<f32>}> : () -> tensor<f32>
    %159 = "stablehlo.broadcast_in_dim"(%158) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x10xf32>
    %160 = "stablehlo.multiply"(%159, %arg32) : (tensor<32x10xf32>, tensor<32x10xf32>) -> tensor<32x10xf32>
    %161 = "stablehlo.constant"() <{value = dense<1.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %162 = "stablehlo.broadcast_in_dim"(%161) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x10xf32>
    %163 = "stablehlo.multiply"(%162, %92) : (tensor<32x10xf32>, tensor<32x10xf32>) -> tensor<32x10xf32>
    %164 = "stablehlo.multiply"(%163, %92) : (tensor<32x10xf32>, tensor<32x10xf32>) -> tensor<32x10xf32>
    %165 = "stablehlo.add"(%160, %164) : (tensor<32x10xf32>, tensor<32x10xf32>) -> tensor<32x10xf32>
    %166 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %167 = "stablehlo.convert"(%105) : (tensor<i32>) -> tensor<f32>
    %168 = "stablehlo.power"(%166, %167) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %169 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %170 = "stablehlo.subtract"(%169, %168) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %171 = "stablehlo.broadcast_in_dim"(%170) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %172 = "stablehlo.divide"(%112, %171) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %173 = "stablehlo.constant"() <{value = dense<9.990000e-01> : tensor<f32>}> : () -> tensor<f32>
    %174 = "stablehlo.convert"(%105) : (tensor<i32>) -> tensor<f32>
    %175 = "stablehlo.power"(%173, %174) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %176 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %177 = "stablehlo.subtract"(%176, %175) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %178 = "stablehlo.broadcast_in_dim"(%177) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %179 = "stablehlo.divide"(%141, %178) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %180 = "stablehlo.sqrt"(%179) : (tensor<32xf32>) -> tensor<32xf32>
    %181 = "stablehlo.constant"() <{value = dense<9.99999993E-9> : tensor<f32>}> : () -> tensor<f32>
    %182 = "stablehlo.broadcast_in_dim"(%181) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %183 = "stablehlo.add"(%180, %182) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %184 = "stablehlo.divide"(%172, %183) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %185 = "stablehlo.constant"() <{value = dense<0.00999999977> : tensor<f32>}> : () -> tensor<f32>
    %186 = "stablehlo.broadcast_in_dim"(%185) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %187 = "stablehlo.multiply"(%186, %arg21) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %188 = "stablehlo.add"(%184, %187) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %189 = "stablehlo.constant"() <{value = dense<1.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %190 = "stablehlo.broadcast_in_dim"(%189) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %191 = "stablehlo.multiply"(%190, %188) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %192 = "stablehlo.subtract"(%arg21, %191) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %193 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %194 = "stablehlo.convert"(%105) : (tensor<i32>) -> tensor<f32>
    %195 = "stablehlo.power"(%193, %194) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %196 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %197 = "stablehlo.subtract"(%196, %195) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %198 = "stablehlo.broadcast_in_dim"(%197) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x32xf32>
    %199 = "stablehlo.divide"(%119, %198) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %200 = "stablehlo.constant"() <{value = dense<9.990000e-01> : tensor<f32>}> : () -> tensor<f32>
    %201 = "stablehlo.convert"(%105) : (tensor<i32>) -> tensor<f32>
    %202 = "stablehlo.power"(%200, %201) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %203 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %204 = "stablehlo.subtract"(%203, %202) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %205 = "stablehlo.broadcast_in_dim"(%204) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x32xf32>
    %206 = "stablehlo.divide"(%149, %205) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %207 = "stablehlo.sqrt"(%206) : (tensor<64x32xf32>) -> tensor<64x32xf32>
    %208 = "stablehlo.constant"() <{value = dense<9.99999993E-9> : tensor<f32>}> : () -> tensor<f32>
    %209 = "stablehlo.broadcast_in_dim"(%208) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x32xf32>
    %210 = "stablehlo.add"(%207, %209) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %211 = "stablehlo.divide"(%199, %210) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %212 = "stablehlo.constant"() <{value = dense<0.00999999977> : tensor<f32>}> : () -> tensor<f32>
    %213 = "stablehlo.broadcast_in_dim"(%212) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x32xf32>
    %214 = "stablehlo.multiply"(%213, %arg22) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %215 = "stablehlo.add"(%211, %214) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %216 = "stablehlo.constant"() <{value = dense<1.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %217 = "stablehlo.broadcast_in_dim"(%216) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x32xf32>
    %218 = "stablehlo.multiply"(%217, %215) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %219 = "stablehlo.subtract"(%arg22, %218) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %220 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %221 = "stablehlo.convert"(%105) : (tensor<i32>) -> tensor<f32>
    %222 = "stablehlo.power"(%220, %221) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %223 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %224 = "stablehlo.subtract"(%223, %222) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %225 = "stablehlo.broadcast_in_dim"(%224) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<10xf32>
    %226 = "stablehlo.divide"(%126, %225) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %227 = "stablehlo.constant"() <{value = dense<9.990000e-01> : tensor<f32>}> : () -> tensor<f32>
    %228 = "stablehlo.convert"(%105) : (tensor<i32>) -> tensor<f32>
    %229 = "stablehlo.power"(%227, %228) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %230 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %231 = "stablehlo.subtract"(%230, %229) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %232 = "stablehlo.broadcast_in_dim"(%231) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<10xf32>
    %233 = "stablehlo.divide"(%157, %232) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %234 = "stablehlo.sqrt"(%233) : (tensor<10xf32>) -> tensor<10xf32>
    %235 = "stablehlo.constant"() <{value = dense<9.99999993E-9> : tensor<f32>}> : () -> tensor<f32>
    %236 = "stablehlo.broadcast_in_dim"(%235) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<10xf32>
    %237 = "stablehlo.add"(%234, %236) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %238 = "stablehlo.divide"(%226, %237) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %239 = "stablehlo.constant"() <{value = dense<0.00999999977> : tensor<f32>}> : () -> tensor<f32>
    %240 = "stablehlo.broadcast_in_dim"(%239) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<10xf32>
    %241 = "stablehlo.multiply"(%240, %arg23) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %242 = "stablehlo.add"(%238, %241) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %243 = "stablehlo.constant"() <{value = dense<1.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %244 = "stablehlo.broadcast_in_dim"(%243) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<10xf32>
    %245 = "stablehlo.multiply"(%244, %242) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %246 = "stablehlo.subtract"(%arg23, %245) : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
    %247 = "stablehlo.constant"() <{value = dense<0.899999976> : tensor<f32>}> : () -> tensor<f32>
    %248 = "stablehlo.convert"(%105) : (tensor<i32>) -> tensor<f32>
    %249 = "stablehlo.power"(%247, %248) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %250 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %251 = "stablehlo.subtract"(%250, %249) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %252 = "stablehlo.broadcast_in_dim"(%251) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x10xf32>
    %253 = "stablehlo.divide"(%133, %252) : (tensor<32x10xf32>, tensor<32x10xf32>) -> tensor<32x10xf32>
    %254 = "stablehlo.constant"() <{value = dense<9.990000e-01> : tensor<f32>}> : () -> tensor<f32>
    %255 = "stablehlo.convert"(%105) : (tensor<i32>) -> tensor<f32>
    %256 = "stablehlo.power"(%254, %255) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %257 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %258 = "stablehlo.subtract"(%257, %256) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %259 = "stablehlo.broadcast_in_dim"(%258) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x10xf32>
    %260 = "stablehlo.divide"(%165, %259) : (tensor<32x10xf32>, tensor<32x10xf32>) -> tensor<32x10xf32>
    %261 = "stablehlo.sqrt"(%260) : (tensor<32x10xf32>) -> tensor<32x10xf32>
    %262 = "stablehlo.constant"() <{value = dense<9.99999993E-9> : tensor<f32>}> : () -> tensor<f32>
    %263 = "stablehlo.broadcast_in_dim"(%262) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x10xf32>
    %264 = "stablehlo.add"(%261, %263) : (tensor<32x10xf32>, tensor<32x10xf32>) -> tensor<32x10xf32>
    %265 = "stablehlo.divide"(%253, %264) : (tensor<32x10xf32>, tensor<32x10xf32>) -> tensor<32x10xf32>
    %266 = "stablehlo.constant"() <{value = dense<0.00999999977> : tensor<f32>}> : () -> tensor<f32>
    %267 = "stablehlo.broadcast_in_dim"(%266) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x10xf32>
    %268 = "stablehlo.multiply"(%267, %arg24) : (tensor<32x10xf32>, tensor<32x10xf32>) -> tensor<32x10xf32>
    %269 = "stablehlo.add"(%265, %268) : (tensor<32x10xf32>, tensor<32x10xf32>) -> tensor<32x10xf32>
    %270 = "stablehlo.constant"() <{value = dense<1.000000e-03> : tensor<f32>}> : () -> tensor<f32>
    %271 = "stablehlo.broadcast_in_dim"(%270) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32x10xf32>
    %272 = "stablehlo.multiply"(%271, %269) : (tensor<32x10xf32>, tensor<32x10xf32>) -> tensor<32x10xf32>
    %273 = "stablehlo.subtract"(%arg24, %272) : (tensor<32x10xf32>, tensor<32x10xf32>) -> tensor<32x10xf32>
    "func.return"(%192, %219, %246, %273, %112, %119, %126, %133, %141, %149, %157, %165, %105, %78) : (tensor<32xf32>, tensor<64x32xf32>, tensor<10xf32>, tensor<32x10xf32>, tensor<32xf32>, tensor<64x32xf32>, tensor<10xf32>, tensor<32x10xf32>, tensor<32xf32>, tensor<64x32xf32>, tensor<10xf32>, tensor<32x10xf32>, tensor<i32>, tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<8x32xf32>) -> tensor<8x32xf32>, res_attrs = [{}], sym_name = "relu", sym_visibility = "private"}> ({
  ^bb0(%arg20: tensor<8x32xf32>):
    %56 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %57 = "stablehlo.broadcast_in_dim"(%56) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x32xf32>
    %58 = "stablehlo.maximum"(%arg20, %57) : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
    "func.return"(%58) : (tensor<8x32xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<8x10xf32>) -> (tensor<8x10xf32>, tensor<8x10xf32>, tensor<8x1xf32>), res_attrs = [{}, {}, {}], sym_name = "log_softmax", sym_visibility = "private"}> ({
  ^bb0(%arg15: tensor<8x10xf32>):
    %39 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %40 = "stablehlo.reduce"(%arg15, %39) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg18: tensor<f32>, %arg19: tensor<f32>):
      %55 = "stablehlo.maximum"(%arg18, %arg19) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%55) : (tensor<f32>) -> ()
    }) : (tensor<8x10xf32>, tensor<f32>) -> tensor<8xf32>
    %41 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %42 = "stablehlo.broadcast_in_dim"(%41) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8xf32>
    %43 = "stablehlo.maximum"(%42, %40) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %44 = "stablehlo.broadcast_in_dim"(%43) <{broadcast_dimensions = array<i64: 0>}> : (tensor<8xf32>) -> tensor<8x1xf32>
    %45 = "stablehlo.broadcast_in_dim"(%44) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<8x1xf32>) -> tensor<8x10xf32>
    %46 = "stablehlo.subtract"(%arg15, %45) : (tensor<8x10xf32>, tensor<8x10xf32>) -> tensor<8x10xf32>
    %47 = "stablehlo.exponential"(%46) : (tensor<8x10xf32>) -> tensor<8x10xf32>
    %48 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %49 = "stablehlo.reduce"(%47, %48) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg16: tensor<f32>, %arg17: tensor<f32>):
      %54 = "stablehlo.add"(%arg16, %arg17) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%54) : (tensor<f32>) -> ()
    }) : (tensor<8x10xf32>, tensor<f32>) -> tensor<8xf32>
    %50 = "stablehlo.broadcast_in_dim"(%49) <{broadcast_dimensions = array<i64: 0>}> : (tensor<8xf32>) -> tensor<8x1xf32>
    %51 = "stablehlo.log"(%50) : (tensor<8x1xf32>) -> tensor<8x1xf32>
    %52 = "stablehlo.broadcast_in_dim"(%51) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<8x1xf32>) -> tensor<8x10xf32>
    %53 = "stablehlo.subtract"(%46, %52) : (tensor<8x10xf32>, tensor<8x10xf32>) -> tensor<8x10xf32>
    "func.return"(%53, %47, %50) : (tensor<8x10xf32>, tensor<8x10xf32>, tensor<8x1xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<8x10xf32>, tensor<8x1xi32>) -> (tensor<8x1xf32>, tensor<8x1x1xi32>), res_attrs = [{}, {}], sym_name = "take_along_axis", sym_visibility = "private"}> ({
  ^bb0(%arg11: tensor<8x10xf32>, %arg12: tensor<8x1xi32>):
    %16 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %17 = "stablehlo.broadcast_in_dim"(%16) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<8x1xi32>
    %18 = "stablehlo.compare"(%arg12, %17) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<8x1xi32>, tensor<8x1xi32>) -> tensor<8x1xi1>
    %19 = "stablehlo.constant"() <{value = dense<10> : tensor<i32>}> : () -> tensor<i32>
    %20 = "stablehlo.broadcast_in_dim"(%19) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<8x1xi32>
    %21 = "stablehlo.add"(%arg12, %20) : (tensor<8x1xi32>, tensor<8x1xi32>) -> tensor<8x1xi32>
    %22 = "stablehlo.select"(%18, %21, %arg12) : (tensor<8x1xi1>, tensor<8x1xi32>, tensor<8x1xi32>) -> tensor<8x1xi32>
    %23 = "stablehlo.reshape"(%22) : (tensor<8x1xi32>) -> tensor<8x1x1xi32>
    %24 = "stablehlo.constant"() <{value = dense<9> : tensor<1xi32>}> : () -> tensor<1xi32>
    %25 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %26 = "stablehlo.broadcast_in_dim"(%25) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<8x1x1xi32>
    %27 = "stablehlo.compare"(%23, %26) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<8x1x1xi32>, tensor<8x1x1xi32>) -> tensor<8x1x1xi1>
    %28 = "stablehlo.broadcast_in_dim"(%24) <{broadcast_dimensions = array<i64: 2>}> : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %29 = "stablehlo.broadcast_in_dim"(%28) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x1xi32>) -> tensor<8x1x1xi32>
    %30 = "stablehlo.compare"(%23, %29) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LE>}> : (tensor<8x1x1xi32>, tensor<8x1x1xi32>) -> tensor<8x1x1xi1>
    %31 = "stablehlo.and"(%27, %30) : (tensor<8x1x1xi1>, tensor<8x1x1xi1>) -> tensor<8x1x1xi1>
    %32 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    %33 = "stablehlo.reduce"(%31, %32) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg13: tensor<i1>, %arg14: tensor<i1>):
      %38 = "stablehlo.and"(%arg13, %arg14) : (tensor<i1>, tensor<i1>) -> tensor<i1>
      "stablehlo.return"(%38) : (tensor<i1>) -> ()
    }) : (tensor<8x1x1xi1>, tensor<i1>) -> tensor<8x1xi1>
    %34 = "stablehlo.gather"(%arg11, %23) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<8x10xf32>, tensor<8x1x1xi32>) -> tensor<8x1xf32>
    %35 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
    %36 = "stablehlo.broadcast_in_dim"(%35) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x1xf32>
    %37 = "stablehlo.select"(%33, %34, %36) : (tensor<8x1xi1>, tensor<8x1xf32>, tensor<8x1xf32>) -> tensor<8x1xf32>
    "func.return"(%37, %23) : (tensor<8x1xf32>, tensor<8x1x1xi32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<8x1x1xi32>, tensor<8x1xf32>) -> tensor<8x10xf32>, res_attrs = [{}], sym_name = "take_along_axis_0", sym_visibility = "private"}> ({
  ^bb0(%arg7: tensor<8x1x1xi32>, %arg8: tensor<8x1xf32>):
    %12 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %13 = "stablehlo.broadcast_in_dim"(%12) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x10xf32>
    %14 = "stablehlo.scatter"(%13, %arg7, %arg8) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg9: tensor<f32>, %arg10: tensor<f32>):
      %15 = "stablehlo.add"(%arg9, %arg10) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%15) : (tensor<f32>) -> ()
    }) : (tensor<8x10xf32>, tensor<8x1x1xi32>, tensor<8x1xf32>) -> tensor<8x10xf32>
    "func.return"(%14) : (tensor<8x10xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<8x10xf32>, tensor<8x1xf32>, tensor<8x10xf32>) -> tensor<8x10xf32>, res_attrs = [{}], sym_name = "log_softmax_1", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<8x10xf32>, %arg1: tensor<8x1xf32>, %arg2: tensor<8x10xf32>):
    %0 = "stablehlo.negate"(%arg2) : (tensor<8x10xf32>) -> tensor<8x10xf32>
    %1 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %2 = "stablehlo.reduce"(%0, %1) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %11 = "stablehlo.add"(%arg5, %arg6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%11) : (tensor<f32>) -> ()
    }) : (tensor<8x10xf32>, tensor<f32>) -> tensor<8xf32>
    %3 = "stablehlo.reshape"(%2) : (tensor<8xf32>) -> tensor<8x1xf32>
    %4 = "stablehlo.divide"(%3, %arg1) : (tensor<8x1xf32>, tensor<8x1xf32>) -> tensor<8x1xf32>
    %5 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %6 = "stablehlo.reduce"(%4, %5) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %10 = "stablehlo.add"(%arg3, %arg4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%10) : (tensor<f32>) -> ()
    }) : (tensor<8x1xf32>, tensor<f32>) -> tensor<8xf32>
    %7 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64: 0>}> : (tensor<8xf32>) -> tensor<8x10xf32>
    %8 = "stablehlo.multiply"(%7, %arg0) : (tensor<8x10xf32>, tensor<8x10xf32>) -> tensor<8x10xf32>
    %9 = "stablehlo.add"(%arg2, %8) : (tensor<8x10xf32>, tensor<8x10xf32>) -> tensor<8x10xf32>
    "func.return"(%9) : (tensor<8x10xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

