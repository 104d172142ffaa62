"builtin.module"() <{sym_name = "jit_loss"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}], function_type = (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<f32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg13: tensor<4x6xf32>, %arg14: tensor<4x6xf32>, %arg15: tensor<4x6xf32>, %arg16: tensor<4x6xf32>, %arg17: tensor<4x6xf32>, %arg18: tensor<4x6xf32>, %arg19: tensor<4x6xf32>, %arg20: tensor<4x6xf32>, %arg21: tensor<4x6xf32>, %arg22: tensor<4x6xf32>, %arg23: tensor<4x6xf32>, %arg24: tensor<4x6xf32>, %arg25: tensor<4x6xf32>, %arg26: tensor<4x6xf32>, %arg27: tensor<4x6xf32>, %arg28: tensor<4x6xf32>):
    %37 = "stablehlo.constant"() <{value = dense<[0, 1, 2, 3, 4, 5]> : tensor<6xi32>}> : () -> tensor<6xi32>
    %38 = "stablehlo.constant"() <{value = dense<[0, 1, 2, 3, 4, 5]> : tensor<6xi32>}> : () -> tensor<6xi32>
    %39 = "stablehlo.multiply"(%arg17, %arg28) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %40 = "stablehlo.constant"() <{value = dense<4.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %41 = "stablehlo.broadcast_in_dim"(%40) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x6xf32>
    %42 = "stablehlo.divide"(%39, %41) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %43 = "chlo.erf_inv"(%42) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %44 = "stablehlo.sine"(%43) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %45 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %46 = "stablehlo.reduce"(%44, %45) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg65: tensor<f32>, %arg66: tensor<f32>):
      %248 = "stablehlo.add"(%arg65, %arg66) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%248) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    %47 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %48 = "stablehlo.add"(%47, %46) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %49 = "stablehlo.multiply"(%arg18, %arg28) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %50 = "chlo.erfc"(%49) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %51 = "stablehlo.sine"(%50) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %52 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %53 = "stablehlo.reduce"(%51, %52) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg63: tensor<f32>, %arg64: tensor<f32>):
      %247 = "stablehlo.add"(%arg63, %arg64) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%247) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    %54 = "stablehlo.add"(%48, %53) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %55 = "stablehlo.multiply"(%arg21, %arg28) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %56 = "stablehlo.multiply"(%55, %55) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %57 = "stablehlo.log_plus_one"(%56) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %58 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %59 = "stablehlo.broadcast_in_dim"(%58) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x6xf32>
    %60 = "stablehlo.multiply"(%59, %55) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %61 = "stablehlo.log_plus_one"(%60) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %62 = "stablehlo.add"(%57, %61) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %63 = "stablehlo.sine"(%62) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %64 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %65 = "stablehlo.reduce"(%63, %64) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg61: tensor<f32>, %arg62: tensor<f32>):
      %246 = "stablehlo.add"(%arg61, %arg62) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%246) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    %66 = "stablehlo.add"(%54, %65) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %67 = "stablehlo.multiply"(%arg19, %arg28) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %68 = "stablehlo.exponential_minus_one"(%67) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %69 = "stablehlo.sine"(%68) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %70 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %71 = "stablehlo.reduce"(%69, %70) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg59: tensor<f32>, %arg60: tensor<f32>):
      %245 = "stablehlo.add"(%arg59, %arg60) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%245) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    %72 = "stablehlo.add"(%66, %71) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %73 = "stablehlo.multiply"(%arg13, %arg28) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %74 = "stablehlo.reverse"(%73) <{dimensions = array<i64: 0>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %75 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %76 = "stablehlo.broadcast_in_dim"(%75) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x6xf32>
    %77 = "stablehlo.add"(%74, %76) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %78 = "stablehlo.atan2"(%73, %77) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %79 = "stablehlo.sine"(%78) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %80 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %81 = "stablehlo.reduce"(%79, %80) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg57: tensor<f32>, %arg58: tensor<f32>):
      %244 = "stablehlo.add"(%arg57, %arg58) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%244) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    %82 = "stablehlo.add"(%72, %81) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %83 = "stablehlo.multiply"(%arg16, %arg28) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %84 = "stablehlo.constant"() <{value = dense<5.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %85 = "stablehlo.broadcast_in_dim"(%84) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x6xf32>
    %86 = "stablehlo.add"(%83, %85) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %87 = "stablehlo.cbrt"(%86) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %88 = "stablehlo.sine"(%87) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %89 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %90 = "stablehlo.reduce"(%88, %89) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg55: tensor<f32>, %arg56: tensor<f32>):
      %243 = "stablehlo.add"(%arg55, %arg56) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%243) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    %91 = "stablehlo.add"(%82, %90) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %92 = "stablehlo.multiply"(%arg20, %arg28) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %93 = "stablehlo.multiply"(%92, %92) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %94 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %95 = "stablehlo.broadcast_in_dim"(%94) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x6xf32>
    %96 = "stablehlo.add"(%93, %95) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %97 = "stablehlo.log"(%96) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %98 = "stablehlo.constant"() <{value = dense<0.434294492> : tensor<f32>}> : () -> tensor<f32>
    %99 = "stablehlo.broadcast_in_dim"(%98) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x6xf32>
    %100 = "stablehlo.multiply"(%97, %99) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %101 = "stablehlo.sine"(%100) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %102 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %103 = "stablehlo.reduce"(%101, %102) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg53: tensor<f32>, %arg54: tensor<f32>):
      %242 = "stablehlo.add"(%arg53, %arg54) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%242) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    %104 = "stablehlo.add"(%91, %103) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %105 = "stablehlo.multiply"(%arg23, %arg28) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %106 = "stablehlo.reverse"(%105) <{dimensions = array<i64: 0>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %107 = "stablehlo.maximum"(%105, %106) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %108 = "stablehlo.subtract"(%105, %106) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %109 = "stablehlo.compare"(%108, %108) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
    %110 = "stablehlo.add"(%105, %106) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %111 = "stablehlo.abs"(%108) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %112 = "stablehlo.negate"(%111) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %113 = "stablehlo.exponential"(%112) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %114 = "stablehlo.log_plus_one"(%113) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %115 = "stablehlo.add"(%107, %114) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %116 = "stablehlo.select"(%109, %110, %115) : (tensor<4x6xi1>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %117 = "func.call"(%105) <{callee = @round}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %118 = "func.call"(%117) <{callee = @softplus}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %119 = "stablehlo.add"(%116, %118) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %120 = "stablehlo.sine"(%119) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %121 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %122 = "stablehlo.reduce"(%120, %121) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg51: tensor<f32>, %arg52: tensor<f32>):
      %241 = "stablehlo.add"(%arg51, %arg52) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%241) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    %123 = "stablehlo.add"(%104, %122) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %124 = "stablehlo.multiply"(%arg25, %arg28) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %125 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %126 = "stablehlo.broadcast_in_dim"(%125) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x6xf32>
    %127 = "stablehlo.compare"(%124, %126) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
    %128 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %129 = "func.call"(%127, %128, %124) <{callee = @_where}> : (tensor<4x6xi1>, tensor<i32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %130 = "stablehlo.constant"() <{value = dense<3.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %131 = "stablehlo.broadcast_in_dim"(%130) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x6xf32>
    %132 = "stablehlo.multiply"(%129, %131) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %133 = "stablehlo.custom_call"(%132) <{call_target_name = "zero.relu"}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %134 = "stablehlo.sine"(%133) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %135 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %136 = "stablehlo.reduce"(%134, %135) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg49: tensor<f32>, %arg50: tensor<f32>):
      %240 = "stablehlo.add"(%arg49, %arg50) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%240) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    %137 = "stablehlo.add"(%123, %136) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %138 = "stablehlo.multiply"(%arg26, %arg28) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %139 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %140 = "stablehlo.broadcast_in_dim"(%139) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x6xf32>
    %141 = "stablehlo.compare"(%138, %140) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
    %142 = "stablehlo.custom_call"(%138) <{call_target_name = "zero.stop_gradient"}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %143 = "stablehlo.subtract"(%138, %142) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %144 = "stablehlo.constant"() <{value = dense<6.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %145 = "stablehlo.broadcast_in_dim"(%144) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x6xf32>
    %146 = "stablehlo.add"(%143, %145) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %147 = "stablehlo.constant"() <{value = dense<4.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %148 = "stablehlo.broadcast_in_dim"(%147) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x6xf32>
    %149 = "stablehlo.multiply"(%148, %138) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %150 = "func.call"(%141, %146, %149) <{callee = @_where_0}> : (tensor<4x6xi1>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %151 = "stablehlo.custom_call"(%150) <{call_target_name = "zero.relu6"}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %152 = "stablehlo.sine"(%151) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %153 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %154 = "stablehlo.reduce"(%152, %153) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg47: tensor<f32>, %arg48: tensor<f32>):
      %239 = "stablehlo.add"(%arg47, %arg48) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%239) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    %155 = "stablehlo.add"(%137, %154) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %156 = "stablehlo.multiply"(%arg27, %arg28) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %157 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %158 = "stablehlo.reduce"(%156, %157) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg45: tensor<f32>, %arg46: tensor<f32>):
      %238 = "stablehlo.maximum"(%arg45, %arg46) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%238) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
    %159 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %160 = "stablehlo.broadcast_in_dim"(%159) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %161 = "stablehlo.maximum"(%160, %158) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %162 = "stablehlo.broadcast_in_dim"(%161) <{broadcast_dimensions = array<i64: 0>}> : (tensor<4xf32>) -> tensor<4x1xf32>
    %163 = "stablehlo.custom_call"(%162) <{call_target_name = "zero.stop_gradient"}> : (tensor<4x1xf32>) -> tensor<4x1xf32>
    %164 = "stablehlo.broadcast_in_dim"(%163) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<4x1xf32>) -> tensor<4x6xf32>
    %165 = "stablehlo.subtract"(%156, %164) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %166 = "stablehlo.exponential"(%165) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %167 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %168 = "stablehlo.reduce"(%166, %167) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg43: tensor<f32>, %arg44: tensor<f32>):
      %237 = "stablehlo.add"(%arg43, %arg44) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%237) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
    %169 = "stablehlo.broadcast_in_dim"(%168) <{broadcast_dimensions = array<i64: 0>}> : (tensor<4xf32>) -> tensor<4x1xf32>
    %170 = "stablehlo.broadcast_in_dim"(%169) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<4x1xf32>) -> tensor<4x6xf32>
    %171 = "stablehlo.divide"(%166, %170) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %172 = "stablehlo.convert"(%37) : (tensor<6xi32>) -> tensor<6xf32>
    %173 = "stablehlo.broadcast_in_dim"(%172) <{broadcast_dimensions = array<i64: 1>}> : (tensor<6xf32>) -> tensor<1x6xf32>
    %174 = "stablehlo.broadcast_in_dim"(%173) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x6xf32>) -> tensor<4x6xf32>
    %175 = "stablehlo.multiply"(%171, %174) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %176 = "stablehlo.sine"(%175) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %177 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %178 = "stablehlo.reduce"(%176, %177) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg41: tensor<f32>, %arg42: tensor<f32>):
      %236 = "stablehlo.add"(%arg41, %arg42) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%236) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    %179 = "stablehlo.add"(%155, %178) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %180 = "stablehlo.multiply"(%arg22, %arg28) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %181 = "func.call"(%180) <{callee = @log_softmax}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %182 = "stablehlo.convert"(%38) : (tensor<6xi32>) -> tensor<6xf32>
    %183 = "stablehlo.broadcast_in_dim"(%182) <{broadcast_dimensions = array<i64: 1>}> : (tensor<6xf32>) -> tensor<1x6xf32>
    %184 = "stablehlo.broadcast_in_dim"(%183) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x6xf32>) -> tensor<4x6xf32>
    %185 = "stablehlo.multiply"(%181, %184) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %186 = "stablehlo.sine"(%185) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %187 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %188 = "stablehlo.reduce"(%186, %187) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg39: tensor<f32>, %arg40: tensor<f32>):
      %235 = "stablehlo.add"(%arg39, %arg40) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%235) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    %189 = "stablehlo.add"(%179, %188) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %190 = "stablehlo.multiply"(%arg24, %arg28) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %191 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %192 = "stablehlo.reduce"(%190, %191) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg37: tensor<f32>, %arg38: tensor<f32>):
      %234 = "stablehlo.maximum"(%arg37, %arg38) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%234) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
    %193 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %194 = "stablehlo.broadcast_in_dim"(%193) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %195 = "stablehlo.maximum"(%194, %192) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %196 = "stablehlo.is_finite"(%195) : (tensor<4xf32>) -> tensor<4xi1>
    %197 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %198 = "stablehlo.broadcast_in_dim"(%197) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %199 = "stablehlo.select"(%196, %195, %198) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %200 = "stablehlo.custom_call"(%199) <{call_target_name = "zero.stop_gradient"}> : (tensor<4xf32>) -> tensor<4xf32>
    %201 = "stablehlo.broadcast_in_dim"(%200) <{broadcast_dimensions = array<i64: 0>}> : (tensor<4xf32>) -> tensor<4x1xf32>
    %202 = "stablehlo.broadcast_in_dim"(%201) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<4x1xf32>) -> tensor<4x6xf32>
    %203 = "stablehlo.subtract"(%190, %202) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %204 = "stablehlo.exponential"(%203) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %205 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %206 = "stablehlo.reduce"(%204, %205) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg35: tensor<f32>, %arg36: tensor<f32>):
      %233 = "stablehlo.add"(%arg35, %arg36) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%233) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
    %207 = "stablehlo.abs"(%206) : (tensor<4xf32>) -> tensor<4xf32>
    %208 = "stablehlo.log"(%207) : (tensor<4xf32>) -> tensor<4xf32>
    %209 = "stablehlo.add"(%208, %200) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %210 = "stablehlo.sine"(%209) : (tensor<4xf32>) -> tensor<4xf32>
    %211 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %212 = "stablehlo.reduce"(%210, %211) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg33: tensor<f32>, %arg34: tensor<f32>):
      %232 = "stablehlo.add"(%arg33, %arg34) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%232) : (tensor<f32>) -> ()
    }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %213 = "stablehlo.add"(%189, %212) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %214 = "stablehlo.multiply"(%arg15, %arg28) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %215 = "stablehlo.bitcast_convert"(%214) : (tensor<4x6xf32>) -> tensor<4x6xi32>
    %216 = "stablehlo.bitcast_convert"(%215) : (tensor<4x6xi32>) -> tensor<4x6xf32>
    %217 = "stablehlo.multiply"(%216, %214) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %218 = "stablehlo.sine"(%217) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %219 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %220 = "stablehlo.reduce"(%218, %219) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg31: tensor<f32>, %arg32: tensor<f32>):
      %231 = "stablehlo.add"(%arg31, %arg32) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%231) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    %221 = "stablehlo.add"(%213, %220) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %222 = "stablehlo.multiply"(%arg14, %arg28) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %223 = "stablehlo.convert"(%222) : (tensor<4x6xf32>) -> tensor<4x6xbf16>
    %224 = "stablehlo.convert"(%223) : (tensor<4x6xbf16>) -> tensor<4x6xf32>
    %225 = "stablehlo.multiply"(%224, %222) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %226 = "stablehlo.sine"(%225) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %227 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %228 = "stablehlo.reduce"(%226, %227) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg29: tensor<f32>, %arg30: tensor<f32>):
      %230 = "stablehlo.add"(%arg29, %arg30) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%230) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<f32>
    %229 = "stablehlo.add"(%221, %228) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "func.return"(%229) : (tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<4x6xf32>) -> tensor<4x6xf32>, res_attrs = [{}], sym_name = "round", sym_visibility = "private"}> ({
  ^bb0(%arg12: tensor<4x6xf32>):
    %36 = "stablehlo.round_nearest_even"(%arg12) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"(%36) : (tensor<4x6xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<4x6xf32>) -> tensor<4x6xf32>, res_attrs = [{}], sym_name = "softplus", sym_visibility = "private"}> ({
  ^bb0(%arg11: tensor<4x6xf32>):
    %22 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %23 = "stablehlo.broadcast_in_dim"(%22) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x6xf32>
    %24 = "stablehlo.maximum"(%arg11, %23) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %25 = "stablehlo.broadcast_in_dim"(%22) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x6xf32>
    %26 = "stablehlo.subtract"(%arg11, %25) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %27 = "stablehlo.compare"(%26, %26) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
    %28 = "stablehlo.broadcast_in_dim"(%22) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x6xf32>
    %29 = "stablehlo.add"(%arg11, %28) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %30 = "stablehlo.abs"(%26) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %31 = "stablehlo.negate"(%30) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %32 = "stablehlo.exponential"(%31) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %33 = "stablehlo.log_plus_one"(%32) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %34 = "stablehlo.add"(%24, %33) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %35 = "stablehlo.select"(%27, %29, %34) : (tensor<4x6xi1>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"(%35) : (tensor<4x6xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<4x6xi1>, tensor<i32>, tensor<4x6xf32>) -> tensor<4x6xf32>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg8: tensor<4x6xi1>, %arg9: tensor<i32>, %arg10: tensor<4x6xf32>):
    %19 = "stablehlo.convert"(%arg9) : (tensor<i32>) -> tensor<f32>
    %20 = "stablehlo.broadcast_in_dim"(%19) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x6xf32>
    %21 = "stablehlo.select"(%arg8, %20, %arg10) : (tensor<4x6xi1>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"(%21) : (tensor<4x6xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<4x6xi1>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>, res_attrs = [{}], sym_name = "_where_0", sym_visibility = "private"}> ({
  ^bb0(%arg5: tensor<4x6xi1>, %arg6: tensor<4x6xf32>, %arg7: tensor<4x6xf32>):
    %18 = "stablehlo.select"(%arg5, %arg6, %arg7) : (tensor<4x6xi1>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"(%18) : (tensor<4x6xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<4x6xf32>) -> tensor<4x6xf32>, res_attrs = [{}], sym_name = "log_softmax", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<4x6xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.reduce"(%arg0, %0) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %17 = "stablehlo.maximum"(%arg3, %arg4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%17) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
    %2 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %3 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %4 = "stablehlo.maximum"(%3, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %5 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64: 0>}> : (tensor<4xf32>) -> tensor<4x1xf32>
    %6 = "stablehlo.custom_call"(%5) <{call_target_name = "zero.stop_gradient"}> : (tensor<4x1xf32>) -> tensor<4x1xf32>
    %7 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<4x1xf32>) -> tensor<4x6xf32>
    %8 = "stablehlo.subtract"(%arg0, %7) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %9 = "stablehlo.exponential"(%8) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %10 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %11 = "stablehlo.reduce"(%9, %10) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %16 = "stablehlo.add"(%arg1, %arg2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%16) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<4xf32>
    %12 = "stablehlo.broadcast_in_dim"(%11) <{broadcast_dimensions = array<i64: 0>}> : (tensor<4xf32>) -> tensor<4x1xf32>
    %13 = "stablehlo.log"(%12) : (tensor<4x1xf32>) -> tensor<4x1xf32>
    %14 = "stablehlo.broadcast_in_dim"(%13) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<4x1xf32>) -> tensor<4x6xf32>
    %15 = "stablehlo.subtract"(%8, %14) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"(%15) : (tensor<4x6xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()

