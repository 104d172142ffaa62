"builtin.module"() <{sym_name = "jit_noisy_step"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<[]>, sym_name = "empty_mesh"}> {stablehlo.mesh = {axes = []}} : () -> ()
  "func.func"() <{arg_attrs = [{tf.aliasing_output = 0 : i32}, {tf.aliasing_output = 1 : i32}, {}], function_type = (tensor<64x4xf32>, tensor<2xui32>, tensor<8x64xf32>) -> (tensor<64x4xf32>, tensor<2xui32>, tensor<f32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg66: tensor<64x4xf32>, %arg67: tensor<2xui32>, %arg68: tensor<8x64xf32>):
    %208 = "sdy.sharding_constraint"(%arg67) <{sharding = #sdy.sharding<@empty_mesh, [{}]>}> : (tensor<2xui32>) -> tensor<2xui32>
    %209 = "func.call"(%208) <{callee = @_threefry_split}> : (tensor<2xui32>) -> tensor<2x2xui32>
    %210 = "stablehlo.slice"(%209) <{limit_indices = array<i64: 1, 2>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<2x2xui32>) -> tensor<1x2xui32>
    %211 = "stablehlo.reshape"(%210) : (tensor<1x2xui32>) -> tensor<2xui32>
    %212 = "stablehlo.slice"(%209) <{limit_indices = array<i64: 2, 2>, start_indices = array<i64: 1, 0>, strides = array<i64: 1, 1>}> : (tensor<2x2xui32>) -> tensor<1x2xui32>
    %213 = "stablehlo.reshape"(%212) : (tensor<1x2xui32>) -> tensor<2xui32>
    %214 = "func.call"(%213) <{callee = @_normal}> : (tensor<2xui32>) -> tensor<8x64xf32>
    %215 = "stablehlo.add"(%arg68, %214) : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    %216 = "stablehlo.dot_general"(%215, %arg66) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<8x64xf32>, tensor<64x4xf32>) -> tensor<8x4xf32>
    %217 = "stablehlo.multiply"(%216, %216) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %218 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %219 = "stablehlo.broadcast_in_dim"(%218) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x4xf32>
    %220 = "stablehlo.multiply"(%219, %216) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %221 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %222 = "stablehlo.reduce"(%217, %221) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg69: tensor<f32>, %arg70: tensor<f32>):
      %237 = "stablehlo.add"(%arg69, %arg70) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%237) : (tensor<f32>) -> ()
    }) : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
    %223 = "stablehlo.constant"() <{value = dense<3.200000e+01> : tensor<f32>}> : () -> tensor<f32>
    %224 = "stablehlo.divide"(%222, %223) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %225 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %226 = "stablehlo.constant"() <{value = dense<3.200000e+01> : tensor<f32>}> : () -> tensor<f32>
    %227 = "stablehlo.divide"(%225, %226) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %228 = "stablehlo.broadcast_in_dim"(%227) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x4xf32>
    %229 = "stablehlo.multiply"(%228, %220) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    %230 = "stablehlo.dot_general"(%229, %215) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<8x4xf32>, tensor<8x64xf32>) -> tensor<4x64xf32>
    %231 = "stablehlo.transpose"(%230) <{permutation = array<i64: 1, 0>}> : (tensor<4x64xf32>) -> tensor<64x4xf32>
    %232 = "stablehlo.constant"() <{value = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %233 = "stablehlo.broadcast_in_dim"(%232) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x4xf32>
    %234 = "stablehlo.multiply"(%233, %231) : (tensor<64x4xf32>, tensor<64x4xf32>) -> tensor<64x4xf32>
    %235 = "stablehlo.subtract"(%arg66, %234) : (tensor<64x4xf32>, tensor<64x4xf32>) -> tensor<64x4xf32>
    %236 = "sdy.sharding_constraint"(%211) <{sharding = #sdy.sharding<@empty_mesh, [{}]>}> : (tensor<2xui32>) -> tensor<2xui32>
    "func.return"(%235, %236, %224) : (tensor<64x4xf32>, tensor<2xui32>, tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<2xui32>) -> tensor<2x2xui32>, res_attrs = [{}], sym_name = "_threefry_split", sym_visibility = "private"}> ({
  ^bb0(%arg65: tensor<2xui32>):
    %191 = "stablehlo.slice"(%arg65) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %192 = "stablehlo.reshape"(%191) : (tensor<1xui32>) -> tensor<ui32>
    %193 = "stablehlo.slice"(%arg65) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %194 = "stablehlo.reshape"(%193) : (tensor<1xui32>) -> tensor<ui32>
    %195 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<2xui64>
    %196 = "stablehlo.constant"() <{value = dense<1> : tensor<ui64>}> : () -> tensor<ui64>
    %197 = "stablehlo.broadcast_in_dim"(%196) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<2xui64>
    %198 = "stablehlo.multiply"(%197, %195) : (tensor<2xui64>, tensor<2xui64>) -> tensor<2xui64>
    %199 = "stablehlo.constant"() <{value = dense<32> : tensor<ui64>}> : () -> tensor<ui64>
    %200 = "stablehlo.broadcast_in_dim"(%199) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<2xui64>
    %201 = "stablehlo.shift_right_logical"(%198, %200) : (tensor<2xui64>, tensor<2xui64>) -> tensor<2xui64>
    %202 = "stablehlo.convert"(%198) : (tensor<2xui64>) -> tensor<2xui32>
    %203 = "stablehlo.convert"(%201) : (tensor<2xui64>) -> tensor<2xui32>
    %204:2 = "func.call"(%192, %194, %203, %202) <{callee = @threefry2x32}> : (tensor<ui32>, tensor<ui32>, tensor<2xui32>, tensor<2xui32>) -> (tensor<2xui32>, tensor<2xui32>)
    %205 = "stablehlo.broadcast_in_dim"(%204#0) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2xui32>) -> tensor<2x1xui32>
    %206 = "stablehlo.broadcast_in_dim"(%204#1) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2xui32>) -> tensor<2x1xui32>
    %207 = "stablehlo.concatenate"(%205, %206) <{dimension = 1 : i64}> : (tensor<2x1xui32>, tensor<2x1xui32>) -> tensor<2x2xui32>
    "func.return"(%207) : (tensor<2x2xui32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<ui32>, tensor<ui32>, tensor<2xui32>, tensor<2xui32>) -> (tensor<2xui32>, tensor<2xui32>), sym_name = "threefry2x32", sym_visibility = "private"}> ({
  ^bb0(%arg43: tensor<ui32>, %arg44: tensor<ui32>, %arg45: tensor<2xui32>, %arg46: tensor<2xui32>):
    %174 = "stablehlo.constant"() <{value = dense<[13, 15, 26, 6]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %175 = "stablehlo.constant"() <{value = dense<[17, 29, 16, 24]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %176 = "stablehlo.xor"(%arg43, %arg44) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %177 = "stablehlo.constant"() <{value = dense<466688986> : tensor<ui32>}> : () -> tensor<ui32>
    %178 = "stablehlo.xor"(%176, %177) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %179 = "stablehlo.broadcast_in_dim"(%arg43) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %180 = "stablehlo.add"(%arg45, %179) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %181 = "stablehlo.broadcast_in_dim"(%arg44) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %182 = "stablehlo.add"(%arg46, %181) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %183 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %184 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %185:9 = "stablehlo.while"(%184, %183, %180, %182, %arg44, %178, %arg43, %174, %175) ({
    ^bb0(%arg56: tensor<i32>, %arg57: tensor<i32>, %arg58: tensor<2xui32>, %arg59: tensor<2xui32>, %arg60: tensor<ui32>, %arg61: tensor<ui32>, %arg62: tensor<ui32>, %arg63: tensor<4xui32>, %arg64: tensor<4xui32>):
      %189 = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
      %190 = "stablehlo.compare"(%arg56, %189) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%190) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg47: tensor<i32>, %arg48: tensor<i32>, %arg49: tensor<2xui32>, %arg50: tensor<2xui32>, %arg51: tensor<ui32>, %arg52: tensor<ui32>, %arg53: tensor<ui32>, %arg54: tensor<4xui32>, %arg55: tensor<4xui32>):
      %186:8 = "func.call"(%arg48, %arg49, %arg50, %arg51, %arg52, %arg53, %arg54, %arg55) <{callee = @closed_call}> : (tensor<i32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
      %187 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %188 = "stablehlo.add"(%arg47, %187) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%188, %186#0, %186#1, %186#2, %186#3, %186#4, %186#5, %186#6, %186#7) : (tensor<i32>, tensor<i32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
    }) : (tensor<i32>, tensor<i32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<i32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
    "func.return"(%185#2, %185#3) : (tensor<2xui32>, tensor<2xui32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<i32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>), res_attrs = [{}, {}, {}, {}, {}, {}, {}, {}], sym_name = "closed_call", sym_visibility = "private"}> ({
  ^bb0(%arg35: tensor<i32>, %arg36: tensor<2xui32>, %arg37: tensor<2xui32>, %arg38: tensor<ui32>, %arg39: tensor<ui32>, %arg40: tensor<ui32>, %arg41: tensor<4xui32>, %arg42: tensor<4xui32>):
    %119 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %120 = "stablehlo.add"(%arg35, %119) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %121 = "stablehlo.slice"(%arg41) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %122 = "stablehlo.reshape"(%121) : (tensor<1xui32>) -> tensor<ui32>
    %123 = "stablehlo.add"(%arg36, %arg37) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %124 = "stablehlo.broadcast_in_dim"(%122) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %125 = "stablehlo.shift_left"(%arg37, %124) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %126 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %127 = "stablehlo.subtract"(%126, %122) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %128 = "stablehlo.broadcast_in_dim"(%127) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %129 = "stablehlo.shift_right_logical"(%arg37, %128) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %130 = "stablehlo.or"(%125, %129) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %131 = "stablehlo.xor"(%123, %130) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %132 = "stablehlo.slice"(%arg41) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %133 = "stablehlo.reshape"(%132) : (tensor<1xui32>) -> tensor<ui32>
    %134 = "stablehlo.add"(%123, %131) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %135 = "stablehlo.broadcast_in_dim"(%133) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %136 = "stablehlo.shift_left"(%131, %135) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %137 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %138 = "stablehlo.subtract"(%137, %133) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %139 = "stablehlo.broadcast_in_dim"(%138) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %140 = "stablehlo.shift_right_logical"(%131, %139) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %141 = "stablehlo.or"(%136, %140) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %142 = "stablehlo.xor"(%134, %141) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %143 = "stablehlo.slice"(%arg41) <{limit_indices = array<i64: 3>, start_indices = array<i64: 2>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %144 = "stablehlo.reshape"(%143) : (tensor<1xui32>) -> tensor<ui32>
    %145 = "stablehlo.add"(%134, %142) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %146 = "stablehlo.broadcast_in_dim"(%144) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %147 = "stablehlo.shift_left"(%142, %146) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %148 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %149 = "stablehlo.subtract"(%148, %144) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %150 = "stablehlo.broadcast_in_dim"(%149) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %151 = "stablehlo.shift_right_logical"(%142, %150) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %152 = "stablehlo.or"(%147, %151) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %153 = "stablehlo.xor"(%145, %152) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %154 = "stablehlo.slice"(%arg41) <{limit_indices = array<i64: 4>, start_indices = array<i64: 3>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %155 = "stablehlo.reshape"(%154) : (tensor<1xui32>) -> tensor<ui32>
    %156 = "stablehlo.add"(%145, %153) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %157 = "stablehlo.broadcast_in_dim"(%155) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %158 = "stablehlo.shift_left"(%153, %157) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %159 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %160 = "stablehlo.subtract"(%159, %155) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %161 = "stablehlo.broadcast_in_dim"(%160) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %162 = "stablehlo.shift_right_logical"(%153, %161) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %163 = "stablehlo.or"(%158, %162) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %164 = "stablehlo.xor"(%156, %163) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %165 = "stablehlo.broadcast_in_dim"(%arg38) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %166 = "stablehlo.add"(%156, %165) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %167 = "stablehlo.broadcast_in_dim"(%arg39) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %168 = "stablehlo.add"(%164, %167) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    %169 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %170 = "stablehlo.add"(%arg35, %169) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %171 = "stablehlo.convert"(%170) : (tensor<i32>) -> tensor<ui32>
    %172 = "stablehlo.broadcast_in_dim"(%171) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<2xui32>
    %173 = "stablehlo.add"(%168, %172) : (tensor<2xui32>, tensor<2xui32>) -> tensor<2xui32>
    "func.return"(%120, %166, %173, %arg39, %arg40, %arg38, %arg42, %arg41) : (tensor<i32>, tensor<2xui32>, tensor<2xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<2xui32>) -> tensor<8x64xf32>, res_attrs = [{}], sym_name = "_normal", sym_visibility = "private"}> ({
  ^bb0(%arg34: tensor<2xui32>):
    %118 = "func.call"(%arg34) <{callee = @_normal_real}> : (tensor<2xui32>) -> tensor<8x64xf32>
    "func.return"(%118) : (tensor<8x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<2xui32>) -> tensor<8x64xf32>, res_attrs = [{}], sym_name = "_normal_real", sym_visibility = "private"}> ({
  ^bb0(%arg33: tensor<2xui32>):
    %111 = "stablehlo.constant"() <{value = dense<-0.99999994> : tensor<f32>}> : () -> tensor<f32>
    %112 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %113 = "func.call"(%arg33, %111, %112) <{callee = @_uniform}> : (tensor<2xui32>, tensor<f32>, tensor<f32>) -> tensor<8x64xf32>
    %114 = "chlo.erf_inv"(%113) : (tensor<8x64xf32>) -> tensor<8x64xf32>
    %115 = "stablehlo.constant"() <{value = dense<1.41421354> : tensor<f32>}> : () -> tensor<f32>
    %116 = "stablehlo.broadcast_in_dim"(%115) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x64xf32>
    %117 = "stablehlo.multiply"(%116, %114) : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    "func.return"(%117) : (tensor<8x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<2xui32>, tensor<f32>, tensor<f32>) -> tensor<8x64xf32>, res_attrs = [{}], sym_name = "_uniform", sym_visibility = "private"}> ({
  ^bb0(%arg30: tensor<2xui32>, %arg31: tensor<f32>, %arg32: tensor<f32>):
    %72 = "stablehlo.broadcast_in_dim"(%arg31) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1xf32>
    %73 = "stablehlo.broadcast_in_dim"(%arg32) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1xf32>
    %74 = "stablehlo.slice"(%arg30) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %75 = "stablehlo.reshape"(%74) : (tensor<1xui32>) -> tensor<ui32>
    %76 = "stablehlo.slice"(%arg30) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<2xui32>) -> tensor<1xui32>
    %77 = "stablehlo.reshape"(%76) : (tensor<1xui32>) -> tensor<ui32>
    %78 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<8x64xui64>
    %79 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<8x64xui64>
    %80 = "stablehlo.constant"() <{value = dense<64> : tensor<ui64>}> : () -> tensor<ui64>
    %81 = "stablehlo.broadcast_in_dim"(%80) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<8x64xui64>
    %82 = "stablehlo.multiply"(%81, %78) : (tensor<8x64xui64>, tensor<8x64xui64>) -> tensor<8x64xui64>
    %83 = "stablehlo.constant"() <{value = dense<1> : tensor<ui64>}> : () -> tensor<ui64>
    %84 = "stablehlo.broadcast_in_dim"(%83) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<8x64xui64>
    %85 = "stablehlo.multiply"(%84, %79) : (tensor<8x64xui64>, tensor<8x64xui64>) -> tensor<8x64xui64>
    %86 = "stablehlo.add"(%82, %85) : (tensor<8x64xui64>, tensor<8x64xui64>) -> tensor<8x64xui64>
    %87 = "stablehlo.constant"() <{value = dense<32> : tensor<ui64>}> : () -> tensor<ui64>
    %88 = "stablehlo.broadcast_in_dim"(%87) <{broadcast_dimensions = array<i64>}> : (tensor<ui64>) -> tensor<8x64xui64>
    %89 = "stablehlo.shift_right_logical"(%86, %88) : (tensor<8x64xui64>, tensor<8x64xui64>) -> tensor<8x64xui64>
    %90 = "stablehlo.convert"(%86) : (tensor<8x64xui64>) -> tensor<8x64xui32>
    %91 = "stablehlo.convert"(%89) : (tensor<8x64xui64>) -> tensor<8x64xui32>
    %92:2 = "func.call"(%75, %77, %91, %90) <{callee = @threefry2x32_0}> : (tensor<ui32>, tensor<ui32>, tensor<8x64xui32>, tensor<8x64xui32>) -> (tensor<8x64xui32>, tensor<8x64xui32>)
    %93 = "stablehlo.xor"(%92#0, %92#1) : (tensor<8x64xui32>, tensor<8x64xui32>) -> tensor<8x64xui32>
    %94 = "stablehlo.constant"() <{value = dense<9> : tensor<ui32>}> : () -> tensor<ui32>
    %95 = "stablehlo.broadcast_in_dim"(%94) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x64xui32>
    %96 = "stablehlo.shift_right_logical"(%93, %95) : (tensor<8x64xui32>, tensor<8x64xui32>) -> tensor<8x64xui32>
    %97 = "stablehlo.constant"() <{value = dense<1065353216> : tensor<ui32>}> : () -> tensor<ui32>
    %98 = "stablehlo.broadcast_in_dim"(%97) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x64xui32>
    %99 = "stablehlo.or"(%96, %98) : (tensor<8x64xui32>, tensor<8x64xui32>) -> tensor<8x64xui32>
    %100 = "stablehlo.bitcast_convert"(%99) : (tensor<8x64xui32>) -> tensor<8x64xf32>
    %101 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %102 = "stablehlo.broadcast_in_dim"(%101) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x64xf32>
    %103 = "stablehlo.subtract"(%100, %102) : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    %104 = "stablehlo.subtract"(%73, %72) : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
    %105 = "stablehlo.broadcast_in_dim"(%104) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xf32>) -> tensor<8x64xf32>
    %106 = "stablehlo.multiply"(%103, %105) : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    %107 = "stablehlo.broadcast_in_dim"(%72) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xf32>) -> tensor<8x64xf32>
    %108 = "stablehlo.add"(%106, %107) : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    %109 = "stablehlo.broadcast_in_dim"(%72) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xf32>) -> tensor<8x64xf32>
    %110 = "stablehlo.maximum"(%109, %108) : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    "func.return"(%110) : (tensor<8x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<ui32>, tensor<ui32>, tensor<8x64xui32>, tensor<8x64xui32>) -> (tensor<8x64xui32>, tensor<8x64xui32>), sym_name = "threefry2x32_0", sym_visibility = "private"}> ({
  ^bb0(%arg8: tensor<ui32>, %arg9: tensor<ui32>, %arg10: tensor<8x64xui32>, %arg11: tensor<8x64xui32>):
    %55 = "stablehlo.constant"() <{value = dense<[13, 15, 26, 6]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %56 = "stablehlo.constant"() <{value = dense<[17, 29, 16, 24]> : tensor<4xui32>}> : () -> tensor<4xui32>
    %57 = "stablehlo.xor"(%arg8, %arg9) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %58 = "stablehlo.constant"() <{value = dense<466688986> : tensor<ui32>}> : () -> tensor<ui32>
    %59 = "stablehlo.xor"(%57, %58) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %60 = "stablehlo.broadcast_in_dim"(%arg8) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x64xui32>
    %61 = "stablehlo.add"(%arg10, %60) : (tensor<8x64xui32>, tensor<8x64xui32>) -> tensor<8x64xui32>
    %62 = "stablehlo.broadcast_in_dim"(%arg9) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x64xui32>
    %63 = "stablehlo.add"(%arg11, %62) : (tensor<8x64xui32>, tensor<8x64xui32>) -> tensor<8x64xui32>
    %64 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %65 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %66:9 = "stablehlo.while"(%65, %64, %61, %63, %arg9, %59, %arg8, %55, %56) ({
    ^bb0(%arg21: tensor<i32>, %arg22: tensor<i32>, %arg23: tensor<8x64xui32>, %arg24: tensor<8x64xui32>, %arg25: tensor<ui32>, %arg26: tensor<ui32>, %arg27: tensor<ui32>, %arg28: tensor<4xui32>, %arg29: tensor<4xui32>):
      %70 = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
      %71 = "stablehlo.compare"(%arg21, %70) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%71) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg12: tensor<i32>, %arg13: tensor<i32>, %arg14: tensor<8x64xui32>, %arg15: tensor<8x64xui32>, %arg16: tensor<ui32>, %arg17: tensor<ui32>, %arg18: tensor<ui32>, %arg19: tensor<4xui32>, %arg20: tensor<4xui32>):
      %67:8 = "func.call"(%arg13, %arg14, %arg15, %arg16, %arg17, %arg18, %arg19, %arg20) <{callee = @closed_call_1}> : (tensor<i32>, tensor<8x64xui32>, tensor<8x64xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<8x64xui32>, tensor<8x64xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
      %68 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %69 = "stablehlo.add"(%arg12, %68) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%69, %67#0, %67#1, %67#2, %67#3, %67#4, %67#5, %67#6, %67#7) : (tensor<i32>, tensor<i32>, tensor<8x64xui32>, tensor<8x64xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
    }) : (tensor<i32>, tensor<i32>, tensor<8x64xui32>, tensor<8x64xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<i32>, tensor<8x64xui32>, tensor<8x64xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
    "func.return"(%66#2, %66#3) : (tensor<8x64xui32>, tensor<8x64xui32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<i32>, tensor<8x64xui32>, tensor<8x64xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<8x64xui32>, tensor<8x64xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>), res_attrs = [{}, {}, {}, {}, {}, {}, {}, {}], sym_name = "closed_call_1", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<i32>, %arg1: tensor<8x64xui32>, %arg2: tensor<8x64xui32>, %arg3: tensor<ui32>, %arg4: tensor<ui32>, %arg5: tensor<ui32>, %arg6: tensor<4xui32>, %arg7: tensor<4xui32>):
    %0 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %1 = "stablehlo.add"(%arg0, %0) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %2 = "stablehlo.slice"(%arg6) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %3 = "stablehlo.reshape"(%2) : (tensor<1xui32>) -> tensor<ui32>
    %4 = "stablehlo.add"(%arg1, %arg2) : (tensor<8x64xui32>, tensor<8x64xui32>) -> tensor<8x64xui32>
    %5 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x64xui32>
    %6 = "stablehlo.shift_left"(%arg2, %5) : (tensor<8x64xui32>, tensor<8x64xui32>) -> tensor<8x64xui32>
    %7 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %8 = "stablehlo.subtract"(%7, %3) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %9 = "stablehlo.broadcast_in_dim"(%8) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x64xui32>
    %10 = "stablehlo.shift_right_logical"(%arg2, %9) : (tensor<8x64xui32>, tensor<8x64xui32>) -> tensor<8x64xui32>
    %11 = "stablehlo.or"(%6, %10) : (tensor<8x64xui32>, tensor<8x64xui32>) -> tensor<8x64xui32>
    %12 = "stablehlo.xor"(%4, %11) : (tensor<8x64xui32>, tensor<8x64xui32>) -> tensor<8x64xui32>
    %13 = "stablehlo.slice"(%arg6) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %14 = "stablehlo.reshape"(%13) : (tensor<1xui32>) -> tensor<ui32>
    %15 = "stablehlo.add"(%4, %12) : (tensor<8x64xui32>, tensor<8x64xui32>) -> tensor<8x64xui32>
    %16 = "stablehlo.broadcast_in_dim"(%14) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x64xui32>
    %17 = "stablehlo.shift_left"(%12, %16) : (tensor<8x64xui32>, tensor<8x64xui32>) -> tensor<8x64xui32>
    %18 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %19 = "stablehlo.subtract"(%18, %14) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %20 = "stablehlo.broadcast_in_dim"(%19) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x64xui32>
    %21 = "stablehlo.shift_right_logical"(%12, %20) : (tensor<8x64xui32>, tensor<8x64xui32>) -> tensor<8x64xui32>
    %22 = "stablehlo.or"(%17, %21) : (tensor<8x64xui32>, tensor<8x64xui32>) -> tensor<8x64xui32>
    %23 = "stablehlo.xor"(%15, %22) : (tensor<8x64xui32>, tensor<8x64xui32>) -> tensor<8x64xui32>
    %24 = "stablehlo.slice"(%arg6) <{limit_indices = array<i64: 3>, start_indices = array<i64: 2>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %25 = "stablehlo.reshape"(%24) : (tensor<1xui32>) -> tensor<ui32>
    %26 = "stablehlo.add"(%15, %23) : (tensor<8x64xui32>, tensor<8x64xui32>) -> tensor<8x64xui32>
    %27 = "stablehlo.broadcast_in_dim"(%25) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x64xui32>
    %28 = "stablehlo.shift_left"(%23, %27) : (tensor<8x64xui32>, tensor<8x64xui32>) -> tensor<8x64xui32>
    %29 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %30 = "stablehlo.subtract"(%29, %25) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %31 = "stablehlo.broadcast_in_dim"(%30) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x64xui32>
    %32 = "stablehlo.shift_right_logical"(%23, %31) : (tensor<8x64xui32>, tensor<8x64xui32>) -> tensor<8x64xui32>
    %33 = "stablehlo.or"(%28, %32) : (tensor<8x64xui32>, tensor<8x64xui32>) -> tensor<8x64xui32>
    %34 = "stablehlo.xor"(%26, %33) : (tensor<8x64xui32>, tensor<8x64xui32>) -> tensor<8x64xui32>
    %35 = "stablehlo.slice"(%arg6) <{limit_indices = array<i64: 4>, start_indices = array<i64: 3>, strides = array<i64: 1>}> : (tensor<4xui32>) -> tensor<1xui32>
    %36 = "stablehlo.reshape"(%35) : (tensor<1xui32>) -> tensor<ui32>
    %37 = "stablehlo.add"(%26, %34) : (tensor<8x64xui32>, tensor<8x64xui32>) -> tensor<8x64xui32>
    %38 = "stablehlo.broadcast_in_dim"(%36) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x64xui32>
    %39 = "stablehlo.shift_left"(%34, %38) : (tensor<8x64xui32>, tensor<8x64xui32>) -> tensor<8x64xui32>
    %40 = "stablehlo.constant"() <{value = dense<32> : tensor<ui32>}> : () -> tensor<ui32>
    %41 = "stablehlo.subtract"(%40, %36) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
    %42 = "stablehlo.broadcast_in_dim"(%41) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x64xui32>
    %43 = "stablehlo.shift_right_logical"(%34, %42) : (tensor<8x64xui32>, tensor<8x64xui32>) -> tensor<8x64xui32>
    %44 = "stablehlo.or"(%39, %43) : (tensor<8x64xui32>, tensor<8x64xui32>) -> tensor<8x64xui32>
    %45 = "stablehlo.xor"(%37, %44) : (tensor<8x64xui32>, tensor<8x64xui32>) -> tensor<8x64xui32>
    %46 = "stablehlo.broadcast_in_dim"(%arg3) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x64xui32>
    %47 = "stablehlo.add"(%37, %46) : (tensor<8x64xui32>, tensor<8x64xui32>) -> tensor<8x64xui32>
    %48 = "stablehlo.broadcast_in_dim"(%arg4) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x64xui32>
    %49 = "stablehlo.add"(%45, %48) : (tensor<8x64xui32>, tensor<8x64xui32>) -> tensor<8x64xui32>
    %50 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %51 = "stablehlo.add"(%arg0, %50) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %52 = "stablehlo.convert"(%51) : (tensor<i32>) -> tensor<ui32>
    %53 = "stablehlo.broadcast_in_dim"(%52) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<8x64xui32>
    %54 = "stablehlo.add"(%49, %53) : (tensor<8x64xui32>, tensor<8x64xui32>) -> tensor<8x64xui32>
    "func.return"(%1, %47, %54, %arg4, %arg5, %arg3, %arg7, %arg6) : (tensor<i32>, tensor<8x64xui32>, tensor<8x64xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

