#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d1)>
#map4 = affine_map<(d0, d1) -> (d0, d1)>
#map5 = affine_map<(d0, d1) -> (0, d1)>
#map6 = affine_map<(d0) -> (d0)>
#map7 = affine_map<(d0, d1) -> (d0)>
#map8 = affine_map<(d0, d1) -> (d0, 0)>
#map9 = affine_map<(d0) -> ()>
#map10 = affine_map<() -> ()>
#map11 = affine_map<(d0, d1) -> ()>
#map12 = affine_map<(d0) -> (d0, 0)>
"builtin.module"() ({
  "func.func"() <{arg_attrs = [{}, {}, {}, {}, {}, {}, {tf.aliasing_output = 0 : i32}, {tf.aliasing_output = 1 : i32}, {}, {}], function_type = (tensor<32x64xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<10x32xf32>, tensor<10xf32>, tensor<32xf32>, tensor<32xf32>, tensor<8x64xf32>, tensor<8xi64>) -> (tensor<32xf32>, tensor<32xf32>, tensor<f32>, tensor<32x64xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<10x32xf32>, tensor<10xf32>), sym_name = "joint"}> ({
  ^bb0(%arg0: tensor<32x64xf32>, %arg1: tensor<32xf32>, %arg2: tensor<32xf32>, %arg3: tensor<32xf32>, %arg4: tensor<10x32xf32>, %arg5: tensor<10xf32>, %arg6: tensor<32xf32>, %arg7: tensor<32xf32>, %arg8: tensor<8x64xf32>, %arg9: tensor<8xi64>):
    %0 = "arith.constant"() <{value = dense<0.000000e+00> : tensor<8x10xf32>}> : () -> tensor<8x10xf32>
    %1 = "arith.constant"() <{value = 10 : index}> : () -> index
    %2 = "arith.constant"() <{value = 0.000000e+00 : f64}> : () -> f64
    %3 = "arith.constant"() <{value = 0xFF800000 : f32}> : () -> f32
    %4 = "arith.constant"() <{value = 1.000000e-05 : f64}> : () -> f64
    %5 = "arith.constant"() <{value = 1.000000e-01 : f64}> : () -> f64
    %6 = "arith.constant"() <{value = 9.000000e-01 : f64}> : () -> f64
    %7 = "arith.constant"() <{value = 1.1428571428571428 : f64}> : () -> f64
    %8 = "arith.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %9 = "arith.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %10 = "arith.constant"() <{value = 8.000000e+00 : f64}> : () -> f64
    %11 = "arith.constant"() <{value = 8.000000e+00 : f32}> : () -> f32
    %12 = "arith.constant"() <{value = 1.250000e-01 : f32}> : () -> f32
    %13 = "arith.constant"() <{value = -100 : i64}> : () -> i64
    %14 = "arith.constant"() <{value = 8 : index}> : () -> index
    %15 = "arith.constant"() <{value = 0 : i64}> : () -> i64
    %16 = "arith.constant"() <{value = 0.000000e+00 : f32}> : () -> f32
    %17 = "arith.constant"() <{value = 0 : index}> : () -> index
    %18 = "arith.constant"() <{value = -1.000000e+00 : f32}> : () -> f32
    %19 = "arith.constant"() <{value = dense<0> : tensor<i64>}> : () -> tensor<i64>
    %20 = "tensor.empty"() : () -> tensor<64x32xf32>
    %21 = "linalg.transpose"(%arg0, %20) <{permutation = array<i64: 1, 0>}> ({
    ^bb0(%arg243: f32, %arg244: f32):
      "linalg.yield"(%arg243) : (f32) -> ()
    }) : (tensor<32x64xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %22 = "tensor.empty"() : () -> tensor<8x32xf32>
    %23 = "linalg.fill"(%16, %22) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg241: f32, %arg242: f32):
      "linalg.yield"(%arg241) : (f32) -> ()
    }) : (f32, tensor<8x32xf32>) -> tensor<8x32xf32>
    %24 = "linalg.matmul"(%arg8, %21, %23) <{indexing_maps = [#map, #map1, #map2], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg238: f32, %arg239: f32, %arg240: f32):
      %248 = "arith.mulf"(%arg238, %arg239) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %249 = "arith.addf"(%arg240, %248) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%249) : (f32) -> ()
    }) : (tensor<8x64xf32>, tensor<64x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
    %25 = "linalg.generic"(%arg1, %22) <{indexing_maps = [#map3, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg236: f32, %arg237: f32):
      "linalg.yield"(%arg236) : (f32) -> ()
    }) : (tensor<32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
    %26 = "linalg.generic"(%24, %25, %22) <{indexing_maps = [#map4, #map4, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg233: f32, %arg234: f32, %arg235: f32):
      %247 = "arith.addf"(%arg233, %arg234) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%247) : (f32) -> ()
    }) : (tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
    %27 = "tensor.empty"() : () -> tensor<8x32xf64>
    %28 = "linalg.generic"(%26, %27) <{indexing_maps = [#map4, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg231: f32, %arg232: f64):
      %246 = "arith.extf"(%arg231) : (f32) -> f64
      "linalg.yield"(%246) : (f64) -> ()
    }) : (tensor<8x32xf32>, tensor<8x32xf64>) -> tensor<8x32xf64>
    %29 = "tensor.empty"() : () -> tensor<1x32xf64>
    %30 = "linalg.fill"(%2, %29) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg229: f64, %arg230: f64):
      "linalg.yield"(%arg229) : (f64) -> ()
    }) : (f64, tensor<1x32xf64>) -> tensor<1x32xf64>
    %31 = "linalg.generic"(%28, %30) <{indexing_maps = [#map4, #map5], iterator_types = [#linalg.iterator_type<reduction>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg227: f64, %arg228: f64):
      %245 = "arith.addf"(%arg227, %arg228) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "linalg.yield"(%245) : (f64) -> ()
    }) : (tensor<8x32xf64>, tensor<1x32xf64>) -> tensor<1x32xf64>
    %32 = "linalg.generic"(%31, %29) <{indexing_maps = [#map4, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg225: f64, %arg226: f64):
      %244 = "arith.divf"(%arg225, %10) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "linalg.yield"(%244) : (f64) -> ()
    }) : (tensor<1x32xf64>, tensor<1x32xf64>) -> tensor<1x32xf64>
    %33 = "linalg.generic"(%28, %32, %27) <{indexing_maps = [#map4, #map5, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg222: f64, %arg223: f64, %arg224: f64):
      %243 = "arith.subf"(%arg222, %arg223) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "linalg.yield"(%243) : (f64) -> ()
    }) : (tensor<8x32xf64>, tensor<1x32xf64>, tensor<8x32xf64>) -> tensor<8x32xf64>
    %34 = "linalg.generic"(%33, %33, %27) <{indexing_maps = [#map4, #map4, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg219: f64, %arg220: f64, %arg221: f64):
      %242 = "arith.mulf"(%arg219, %arg220) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "linalg.yield"(%242) : (f64) -> ()
    }) : (tensor<8x32xf64>, tensor<8x32xf64>, tensor<8x32xf64>) -> tensor<8x32xf64>
    %35 = "linalg.generic"(%34, %30) <{indexing_maps = [#map4, #map5], iterator_types = [#linalg.iterator_type<reduction>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg217: f64, %arg218: f64):
      %241 = "arith.addf"(%arg217, %arg218) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "linalg.yield"(%241) : (f64) -> ()
    }) : (tensor<8x32xf64>, tensor<1x32xf64>) -> tensor<1x32xf64>
    %36 = "linalg.generic"(%35, %29) <{indexing_maps = [#map4, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg215: f64, %arg216: f64):
      %240 = "arith.divf"(%arg215, %10) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
      "linalg.yield"(%240) : (f64) -> ()
    }) : (tensor<1x32xf64>, tensor<1x32xf64>) -> tensor<1x32xf64>
    %37 = "tensor.empty"() : () -> tensor<1x32xf32>
    %38 = "linalg.generic"(%36, %37) <{indexing_maps = [#map4, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg213: f64, %arg214: f32):
      %239 = "arith.truncf"(%arg213) : (f64) -> f32
      "linalg.yield"(%239) : (f32) -> ()
    }) : (tensor<1x32xf64>, tensor<1x32xf32>) -> tensor<1x32xf32>
    %39 = "linalg.fill"(%16, %37) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg211: f32, %arg212: f32):
      "linalg.yield"(%arg211) : (f32) -> ()
    }) : (f32, tensor<1x32xf32>) -> tensor<1x32xf32>
    %40 = "linalg.generic"(%26, %39) <{indexing_maps = [#map4, #map5], iterator_types = [#linalg.iterator_type<reduction>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg209: f32, %arg210: f32):
      %238 = "arith.addf"(%arg209, %arg210) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%238) : (f32) -> ()
    }) : (tensor<8x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
    %41 = "linalg.generic"(%40, %37) <{indexing_maps = [#map4, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg207: f32, %arg208: f32):
      %237 = "arith.divf"(%arg207, %11) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%237) : (f32) -> ()
    }) : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
    %42 = "linalg.generic"(%38, %37) <{indexing_maps = [#map4, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg205: f32, %arg206: f32):
      %235 = "arith.truncf"(%4) : (f64) -> f32
      %236 = "arith.addf"(%arg205, %235) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%236) : (f32) -> ()
    }) : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
    %43 = "linalg.generic"(%42, %37) <{indexing_maps = [#map4, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg203: f32, %arg204: f32):
      %234 = "math.rsqrt"(%arg203) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
      "linalg.yield"(%234) : (f32) -> ()
    }) : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
    %44 = "linalg.generic"(%26, %41, %22) <{indexing_maps = [#map4, #map5, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg200: f32, %arg201: f32, %arg202: f32):
      %233 = "arith.subf"(%arg200, %arg201) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%233) : (f32) -> ()
    }) : (tensor<8x32xf32>, tensor<1x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
    %45 = "linalg.generic"(%44, %43, %22) <{indexing_maps = [#map4, #map5, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg197: f32, %arg198: f32, %arg199: f32):
      %232 = "arith.mulf"(%arg197, %arg198) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%232) : (f32) -> ()
    }) : (tensor<8x32xf32>, tensor<1x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
    %46 = "tensor.collapse_shape"(%41) <{reassociation = [[0, 1]]}> : (tensor<1x32xf32>) -> tensor<32xf32>
    %47 = "tensor.collapse_shape"(%43) <{reassociation = [[0, 1]]}> : (tensor<1x32xf32>) -> tensor<32xf32>
    %48 = "tensor.empty"() : () -> tensor<32xf32>
    %49 = "linalg.generic"(%46, %48) <{indexing_maps = [#map6, #map6], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg195: f32, %arg196: f32):
      %230 = "arith.truncf"(%5) : (f64) -> f32
      %231 = "arith.mulf"(%arg195, %230) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%231) : (f32) -> ()
    }) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %50 = "linalg.generic"(%arg6, %48) <{indexing_maps = [#map6, #map6], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg193: f32, %arg194: f32):
      %228 = "arith.truncf"(%6) : (f64) -> f32
      %229 = "arith.mulf"(%arg193, %228) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%229) : (f32) -> ()
    }) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %51 = "linalg.generic"(%49, %50, %48) <{indexing_maps = [#map6, #map6, #map6], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg190: f32, %arg191: f32, %arg192: f32):
      %227 = "arith.addf"(%arg190, %arg191) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%227) : (f32) -> ()
    }) : (tensor<32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %52 = "tensor.collapse_shape"(%38) <{reassociation = [[0, 1]]}> : (tensor<1x32xf32>) -> tensor<32xf32>
    %53 = "linalg.generic"(%52, %48) <{indexing_maps = [#map6, #map6], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg188: f32, %arg189: f32):
      %225 = "arith.truncf"(%7) : (f64) -> f32
      %226 = "arith.mulf"(%arg188, %225) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%226) : (f32) -> ()
    }) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %54 = "linalg.generic"(%53, %48) <{indexing_maps = [#map6, #map6], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg186: f32, %arg187: f32):
      %223 = "arith.truncf"(%5) : (f64) -> f32
      %224 = "arith.mulf"(%arg186, %223) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%224) : (f32) -> ()
    }) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %55 = "linalg.generic"(%arg7, %48) <{indexing_maps = [#map6, #map6], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg184: f32, %arg185: f32):
      %221 = "arith.truncf"(%6) : (f64) -> f32
      %222 = "arith.mulf"(%arg184, %221) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%222) : (f32) -> ()
    }) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %56 = "linalg.generic"(%54, %55, %48) <{indexing_maps = [#map6, #map6, #map6], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg181: f32, %arg182: f32, %arg183: f32):
      %220 = "arith.addf"(%arg181, %arg182) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%220) : (f32) -> ()
    }) : (tensor<32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %57 = "linalg.generic"(%45, %arg2, %22) <{indexing_maps = [#map4, #map3, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg178: f32, %arg179: f32, %arg180: f32):
      %219 = "arith.mulf"(%arg178, %arg179) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%219) : (f32) -> ()
    }) : (tensor<8x32xf32>, tensor<32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
    %58 = "linalg.generic"(%57, %arg3, %22) <{indexing_maps = [#map4, #map3, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg175: f32, %arg176: f32, %arg177: f32):
      %218 = "arith.addf"(%arg175, %arg176) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%218) : (f32) -> ()
    }) : (tensor<8x32xf32>, tensor<32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
    %59 = "linalg.generic"(%58, %22) <{indexing_maps = [#map4, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg173: f32, %arg174: f32):
      %216 = "arith.cmpf"(%arg173, %16) <{fastmath = #arith.fastmath<none>, predicate = 9 : i64}> : (f32, f32) -> i1
      %217 = "arith.select"(%216, %arg173, %16) : (i1, f32, f32) -> f32
      "linalg.yield"(%217) : (f32) -> ()
    }) : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
    %60 = "tensor.empty"() : () -> tensor<32x10xf32>
    %61 = "linalg.transpose"(%arg4, %60) <{permutation = array<i64: 1, 0>}> ({
    ^bb0(%arg171: f32, %arg172: f32):
      "linalg.yield"(%arg171) : (f32) -> ()
    }) : (tensor<10x32xf32>, tensor<32x10xf32>) -> tensor<32x10xf32>
    %62 = "tensor.empty"() : () -> tensor<8x10xf32>
    %63 = "linalg.fill"(%16, %62) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg169: f32, %arg170: f32):
      "linalg.yield"(%arg169) : (f32) -> ()
    }) : (f32, tensor<8x10xf32>) -> tensor<8x10xf32>
    %64 = "linalg.matmul"(%59, %61, %63) <{indexing_maps = [#map, #map1, #map2], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg166: f32, %arg167: f32, %arg168: f32):
      %214 = "arith.mulf"(%arg166, %arg167) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %215 = "arith.addf"(%arg168, %214) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%215) : (f32) -> ()
    }) : (tensor<8x32xf32>, tensor<32x10xf32>, tensor<8x10xf32>) -> tensor<8x10xf32>
    %65 = "linalg.generic"(%arg5, %62) <{indexing_maps = [#map3, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg164: f32, %arg165: f32):
      "linalg.yield"(%arg164) : (f32) -> ()
    }) : (tensor<10xf32>, tensor<8x10xf32>) -> tensor<8x10xf32>
    %66 = "linalg.generic"(%64, %65, %62) <{indexing_maps = [#map4, #map4, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg161: f32, %arg162: f32, %arg163: f32):
      %213 = "arith.addf"(%arg161, %arg162) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%213) : (f32) -> ()
    }) : (tensor<8x10xf32>, tensor<8x10xf32>, tensor<8x10xf32>) -> tensor<8x10xf32>
    %67 = "tensor.empty"() : () -> tensor<8xi64>
    %68 = "linalg.fill"(%15, %67) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg159: i64, %arg160: i64):
      "linalg.yield"(%arg159) : (i64) -> ()
    }) : (i64, tensor<8xi64>) -> tensor<8xi64>
    %69 = "tensor.empty"() : () -> tensor<8xf32>
    %70 = "linalg.fill"(%3, %69) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg157: f32, %arg158: f32):
      "linalg.yield"(%arg157) : (f32) -> ()
    }) : (f32, tensor<8xf32>) -> tensor<8xf32>
    %71:2 = "linalg.generic"(%66, %70, %68) <{indexing_maps = [#map4, #map7, #map7], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>], operandSegmentSizes = array<i32: 1, 2>}> ({
    ^bb0(%arg154: f32, %arg155: f32, %arg156: i64):
      %208 = "linalg.index"() <{dim = 1 : i64}> : () -> index
      %209 = "arith.index_cast"(%208) : (index) -> i64
      %210 = "arith.maximumf"(%arg154, %arg155) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %211 = "arith.cmpf"(%arg154, %arg155) <{fastmath = #arith.fastmath<none>, predicate = 2 : i64}> : (f32, f32) -> i1
      %212 = "arith.select"(%211, %209, %arg156) : (i1, i64, i64) -> i64
      "linalg.yield"(%210, %212) : (f32, i64) -> ()
    }) : (tensor<8x10xf32>, tensor<8xf32>, tensor<8xi64>) -> (tensor<8xf32>, tensor<8xi64>)
    %72 = "tensor.expand_shape"(%71#0) <{reassociation = [[0, 1]], static_output_shape = array<i64: 8, 1>}> : (tensor<8xf32>) -> tensor<8x1xf32>
    %73 = "linalg.generic"(%66, %72, %62) <{indexing_maps = [#map4, #map8, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg151: f32, %arg152: f32, %arg153: f32):
      %207 = "arith.subf"(%arg151, %arg152) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%207) : (f32) -> ()
    }) : (tensor<8x10xf32>, tensor<8x1xf32>, tensor<8x10xf32>) -> tensor<8x10xf32>
    %74 = "linalg.generic"(%73, %62) <{indexing_maps = [#map4, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg149: f32, %arg150: f32):
      %206 = "math.exp"(%arg149) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
      "linalg.yield"(%206) : (f32) -> ()
    }) : (tensor<8x10xf32>, tensor<8x10xf32>) -> tensor<8x10xf32>
    %75 = "tensor.empty"() : () -> tensor<8x1xf32>
    %76 = "linalg.fill"(%16, %75) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg147: f32, %arg148: f32):
      "linalg.yield"(%arg147) : (f32) -> ()
    }) : (f32, tensor<8x1xf32>) -> tensor<8x1xf32>
    %77 = "linalg.generic"(%74, %76) <{indexing_maps = [#map4, #map8], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg145: f32, %arg146: f32):
      %205 = "arith.addf"(%arg145, %arg146) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%205) : (f32) -> ()
    }) : (tensor<8x10xf32>, tensor<8x1xf32>) -> tensor<8x1xf32>
    %78 = "linalg.generic"(%77, %75) <{indexing_maps = [#map4, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg143: f32, %arg144: f32):
      %204 = "math.log"(%arg143) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
      "linalg.yield"(%204) : (f32) -> ()
    }) : (tensor<8x1xf32>, tensor<8x1xf32>) -> tensor<8x1xf32>
    %79 = "linalg.generic"(%73, %78, %62) <{indexing_maps = [#map4, #map8, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg140: f32, %arg141: f32, %arg142: f32):
      %203 = "arith.subf"(%arg140, %arg141) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%203) : (f32) -> ()
    }) : (tensor<8x10xf32>, tensor<8x1xf32>, tensor<8x10xf32>) -> tensor<8x10xf32>
    %80 = "tensor.empty"() : () -> tensor<8xi1>
    %81 = "linalg.generic"(%arg9, %80) <{indexing_maps = [#map6, #map6], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg138: i64, %arg139: i1):
      %202 = "arith.cmpi"(%arg138, %13) <{predicate = 1 : i64}> : (i64, i64) -> i1
      "linalg.yield"(%202) : (i1) -> ()
    }) : (tensor<8xi64>, tensor<8xi1>) -> tensor<8xi1>
    %82 = "linalg.generic"(%81, %arg9, %19, %67) <{indexing_maps = [#map6, #map6, #map9, #map6], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 3, 1>}> ({
    ^bb0(%arg134: i1, %arg135: i64, %arg136: i64, %arg137: i64):
      %201 = "arith.select"(%arg134, %arg135, %arg136) : (i1, i64, i64) -> i64
      "linalg.yield"(%201) : (i64) -> ()
    }) : (tensor<8xi1>, tensor<8xi64>, tensor<i64>, tensor<8xi64>) -> tensor<8xi64>
    %83 = "tensor.expand_shape"(%82) <{reassociation = [[0, 1]], static_output_shape = array<i64: 8, 1>}> : (tensor<8xi64>) -> tensor<8x1xi64>
    %84 = "linalg.generic"(%83, %76) <{indexing_maps = [#map4, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg132: i64, %arg133: f32):
      %196 = "linalg.index"() <{dim = 0 : i64}> : () -> index
      %197 = "arith.index_cast"(%arg132) : (i64) -> index
      %198 = "arith.cmpi"(%197, %1) <{predicate = 2 : i64}> : (index, index) -> i1
      "cf.assert"(%198) <{msg = "index must be smaller than dim size"}> : (i1) -> ()
      %199 = "arith.cmpi"(%arg132, %15) <{predicate = 5 : i64}> : (i64, i64) -> i1
      "cf.assert"(%199) <{msg = "index must be larger or equal to 0"}> : (i1) -> ()
      %200 = "tensor.extract"(%79, %196, %197) : (tensor<8x10xf32>, index, index) -> f32
      "linalg.yield"(%200) : (f32) -> ()
    }) : (tensor<8x1xi64>, tensor<8x1xf32>) -> tensor<8x1xf32>
    %85 = "tensor.collapse_shape"(%84) <{reassociation = [[0, 1]]}> : (tensor<8x1xf32>) -> tensor<8xf32>
    %86 = "linalg.generic"(%85, %69) <{indexing_maps = [#map6, #map6], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg130: f32, %arg131: f32):
      %195 = "arith.negf"(%arg130) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
      "linalg.yield"(%195) : (f32) -> ()
    }) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    %87 = "linalg.generic"(%81, %86, %8, %69) <{indexing_maps = [#map6, #map6, #map9, #map6], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 3, 1>}> ({
    ^bb0(%arg126: i1, %arg127: f32, %arg128: f32, %arg129: f32):
      %194 = "arith.select"(%arg126, %arg127, %arg128) : (i1, f32, f32) -> f32
      "linalg.yield"(%194) : (f32) -> ()
    }) : (tensor<8xi1>, tensor<8xf32>, tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
    %88 = "tensor.empty"() : () -> tensor<i64>
    %89 = "linalg.fill"(%15, %88) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg124: i64, %arg125: i64):
      "linalg.yield"(%arg124) : (i64) -> ()
    }) : (i64, tensor<i64>) -> tensor<i64>
    %90 = "linalg.generic"(%81, %89) <{indexing_maps = [#map6, #map9], iterator_types = [#linalg.iterator_type<reduction>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg122: i1, %arg123: i64):
      %192 = "arith.extui"(%arg122) : (i1) -> i64
      %193 = "arith.addi"(%192, %arg123) <{overflowFlags = #arith.overflow<none>}> : (i64, i64) -> i64
      "linalg.yield"(%193) : (i64) -> ()
    }) : (tensor<8xi1>, tensor<i64>) -> tensor<i64>
    %91 = "tensor.empty"() : () -> tensor<f32>
    %92 = "linalg.generic"(%90, %91) <{indexing_maps = [#map10, #map10], iterator_types = [], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg120: i64, %arg121: f32):
      %191 = "arith.sitofp"(%arg120) : (i64) -> f32
      "linalg.yield"(%191) : (f32) -> ()
    }) : (tensor<i64>, tensor<f32>) -> tensor<f32>
    %93 = "linalg.fill"(%16, %91) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg118: f32, %arg119: f32):
      "linalg.yield"(%arg118) : (f32) -> ()
    }) : (f32, tensor<f32>) -> tensor<f32>
    %94 = "linalg.generic"(%87, %93) <{indexing_maps = [#map6, #map9], iterator_types = [#linalg.iterator_type<reduction>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg116: f32, %arg117: f32):
      %190 = "arith.addf"(%arg116, %arg117) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%190) : (f32) -> ()
    }) : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    %95 = "linalg.generic"(%94, %92, %91) <{indexing_maps = [#map10, #map10, #map10], iterator_types = [], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg113: f32, %arg114: f32, %arg115: f32):
      %189 = "arith.divf"(%arg113, %arg114) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%189) : (f32) -> ()
    }) : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %96 = "linalg.generic"(%9, %92, %91) <{indexing_maps = [#map10, #map10, #map10], iterator_types = [], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg110: f32, %arg111: f32, %arg112: f32):
      %188 = "arith.divf"(%arg110, %arg111) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%188) : (f32) -> ()
    }) : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %97 = "tensor.expand_shape"(%arg9) <{reassociation = [[0, 1]], static_output_shape = array<i64: 8, 1>}> : (tensor<8xi64>) -> tensor<8x1xi64>
    %98 = "tensor.empty"() : () -> tensor<8x1xi1>
    %99 = "linalg.generic"(%97, %98) <{indexing_maps = [#map4, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg108: i64, %arg109: i1):
      %187 = "arith.cmpi"(%arg108, %13) <{predicate = 1 : i64}> : (i64, i64) -> i1
      "linalg.yield"(%187) : (i1) -> ()
    }) : (tensor<8x1xi64>, tensor<8x1xi1>) -> tensor<8x1xi1>
    %100 = "tensor.empty"() : () -> tensor<8x1xi64>
    %101 = "linalg.generic"(%99, %97, %19, %100) <{indexing_maps = [#map4, #map4, #map11, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 3, 1>}> ({
    ^bb0(%arg104: i1, %arg105: i64, %arg106: i64, %arg107: i64):
      %186 = "arith.select"(%arg104, %arg105, %arg106) : (i1, i64, i64) -> i64
      "linalg.yield"(%186) : (i64) -> ()
    }) : (tensor<8x1xi1>, tensor<8x1xi64>, tensor<i64>, tensor<8x1xi64>) -> tensor<8x1xi64>
    %102 = "linalg.fill"(%15, %100) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg102: i64, %arg103: i64):
      "linalg.yield"(%arg102) : (i64) -> ()
    }) : (i64, tensor<8x1xi64>) -> tensor<8x1xi64>
    %103 = "linalg.fill"(%16, %69) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg100: f32, %arg101: f32):
      "linalg.yield"(%arg100) : (f32) -> ()
    }) : (f32, tensor<8xf32>) -> tensor<8xf32>
    %104:3 = "linalg.generic"(%102, %102, %103) <{indexing_maps = [#map12, #map12, #map6], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 0, 3>}> ({
    ^bb0(%arg97: i64, %arg98: i64, %arg99: f32):
      %182 = "linalg.index"() <{dim = 0 : i64}> : () -> index
      %183 = "arith.remsi"(%182, %14) : (index, index) -> index
      %184 = "tensor.extract"(%101, %183, %17) : (tensor<8x1xi64>, index, index) -> i64
      %185 = "arith.index_cast"(%183) : (index) -> i64
      "linalg.yield"(%185, %184, %18) : (i64, i64, f32) -> ()
    }) : (tensor<8x1xi64>, tensor<8x1xi64>, tensor<8xf32>) -> (tensor<8x1xi64>, tensor<8x1xi64>, tensor<8xf32>)
    %105 = "tensor.empty"() : () -> tensor<8x2xi64>
    %106 = "linalg.fill"(%15, %105) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg95: i64, %arg96: i64):
      "linalg.yield"(%arg95) : (i64) -> ()
    }) : (i64, tensor<8x2xi64>) -> tensor<8x2xi64>
    %107 = "tensor.insert_slice"(%104#0, %106) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 8, 1>, static_strides = array<i64: 1, 1>}> : (tensor<8x1xi64>, tensor<8x2xi64>) -> tensor<8x2xi64>
    %108 = "tensor.insert_slice"(%104#1, %107) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>, static_offsets = array<i64: 0, 1>, static_sizes = array<i64: 8, 1>, static_strides = array<i64: 1, 1>}> : (tensor<8x1xi64>, tensor<8x2xi64>) -> tensor<8x2xi64>
    %109 = "tm_tensor.scatter"(%104#2, %108, %0) <{dimension_map = array<i64: 0, 1>, operandSegmentSizes = array<i32: 2, 1>, unique_indices = false}> ({
    ^bb0(%arg93: f32, %arg94: f32):
      "tm_tensor.yield"(%arg93) : (f32) -> ()
    }) : (tensor<8xf32>, tensor<8x2xi64>, tensor<8x10xf32>) -> tensor<8x10xf32>
    %110 = "linalg.generic"(%99, %96, %8, %75) <{indexing_maps = [#map4, #map11, #map11, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 3, 1>}> ({
    ^bb0(%arg89: i1, %arg90: f32, %arg91: f32, %arg92: f32):
      %181 = "arith.select"(%arg89, %arg90, %arg91) : (i1, f32, f32) -> f32
      "linalg.yield"(%181) : (f32) -> ()
    }) : (tensor<8x1xi1>, tensor<f32>, tensor<f32>, tensor<8x1xf32>) -> tensor<8x1xf32>
    %111 = "linalg.generic"(%109, %110, %62) <{indexing_maps = [#map4, #map8, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg86: f32, %arg87: f32, %arg88: f32):
      %180 = "arith.mulf"(%arg86, %arg87) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%180) : (f32) -> ()
    }) : (tensor<8x10xf32>, tensor<8x1xf32>, tensor<8x10xf32>) -> tensor<8x10xf32>
    %112 = "linalg.generic"(%79, %62) <{indexing_maps = [#map4, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg84: f32, %arg85: f32):
      %179 = "math.exp"(%arg84) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
      "linalg.yield"(%179) : (f32) -> ()
    }) : (tensor<8x10xf32>, tensor<8x10xf32>) -> tensor<8x10xf32>
    %113 = "linalg.generic"(%111, %76) <{indexing_maps = [#map4, #map8], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg82: f32, %arg83: f32):
      %178 = "arith.addf"(%arg82, %arg83) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%178) : (f32) -> ()
    }) : (tensor<8x10xf32>, tensor<8x1xf32>) -> tensor<8x1xf32>
    %114 = "linalg.generic"(%112, %113, %62) <{indexing_maps = [#map4, #map8, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg79: f32, %arg80: f32, %arg81: f32):
      %177 = "arith.mulf"(%arg79, %arg80) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%177) : (f32) -> ()
    }) : (tensor<8x10xf32>, tensor<8x1xf32>, tensor<8x10xf32>) -> tensor<8x10xf32>
    %115 = "linalg.generic"(%111, %114, %62) <{indexing_maps = [#map4, #map4, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg76: f32, %arg77: f32, %arg78: f32):
      %176 = "arith.subf"(%arg76, %arg77) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%176) : (f32) -> ()
    }) : (tensor<8x10xf32>, tensor<8x10xf32>, tensor<8x10xf32>) -> tensor<8x10xf32>
    %116 = "linalg.matmul"(%115, %arg4, %23) <{indexing_maps = [#map, #map1, #map2], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg73: f32, %arg74: f32, %arg75: f32):
      %174 = "arith.mulf"(%arg73, %arg74) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %175 = "arith.addf"(%arg75, %174) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%175) : (f32) -> ()
    }) : (tensor<8x10xf32>, tensor<10x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
    %117 = "tensor.empty"() : () -> tensor<10x8xf32>
    %118 = "linalg.transpose"(%115, %117) <{permutation = array<i64: 1, 0>}> ({
    ^bb0(%arg71: f32, %arg72: f32):
      "linalg.yield"(%arg71) : (f32) -> ()
    }) : (tensor<8x10xf32>, tensor<10x8xf32>) -> tensor<10x8xf32>
    %119 = "tensor.empty"() : () -> tensor<10x32xf32>
    %120 = "linalg.fill"(%16, %119) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg69: f32, %arg70: f32):
      "linalg.yield"(%arg69) : (f32) -> ()
    }) : (f32, tensor<10x32xf32>) -> tensor<10x32xf32>
    %121 = "linalg.matmul"(%118, %59, %120) <{indexing_maps = [#map, #map1, #map2], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg66: f32, %arg67: f32, %arg68: f32):
      %172 = "arith.mulf"(%arg66, %arg67) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %173 = "arith.addf"(%arg68, %172) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%173) : (f32) -> ()
    }) : (tensor<10x8xf32>, tensor<8x32xf32>, tensor<10x32xf32>) -> tensor<10x32xf32>
    %122 = "tensor.empty"() : () -> tensor<1x10xf32>
    %123 = "linalg.fill"(%16, %122) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg64: f32, %arg65: f32):
      "linalg.yield"(%arg64) : (f32) -> ()
    }) : (f32, tensor<1x10xf32>) -> tensor<1x10xf32>
    %124 = "linalg.generic"(%115, %123) <{indexing_maps = [#map4, #map5], iterator_types = [#linalg.iterator_type<reduction>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg62: f32, %arg63: f32):
      %171 = "arith.addf"(%arg62, %arg63) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%171) : (f32) -> ()
    }) : (tensor<8x10xf32>, tensor<1x10xf32>) -> tensor<1x10xf32>
    %125 = "tensor.collapse_shape"(%124) <{reassociation = [[0, 1]]}> : (tensor<1x10xf32>) -> tensor<10xf32>
    %126 = "tensor.empty"() : () -> tensor<8x32xi1>
    %127 = "linalg.generic"(%59, %126) <{indexing_maps = [#map4, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg60: f32, %arg61: i1):
      %170 = "arith.cmpf"(%arg60, %16) <{fastmath = #arith.fastmath<none>, predicate = 5 : i64}> : (f32, f32) -> i1
      "linalg.yield"(%170) : (i1) -> ()
    }) : (tensor<8x32xf32>, tensor<8x32xi1>) -> tensor<8x32xi1>
    %128 = "linalg.generic"(%127, %8, %116, %22) <{indexing_maps = [#map4, #map11, #map4, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 3, 1>}> ({
    ^bb0(%arg56: i1, %arg57: f32, %arg58: f32, %arg59: f32):
      %169 = "arith.select"(%arg56, %arg57, %arg58) : (i1, f32, f32) -> f32
      "linalg.yield"(%169) : (f32) -> ()
    }) : (tensor<8x32xi1>, tensor<f32>, tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
    %129 = "linalg.fill"(%16, %48) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg54: f32, %arg55: f32):
      "linalg.yield"(%arg54) : (f32) -> ()
    }) : (f32, tensor<32xf32>) -> tensor<32xf32>
    %130 = "linalg.generic"(%128, %129) <{indexing_maps = [#map4, #map3], iterator_types = [#linalg.iterator_type<reduction>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg52: f32, %arg53: f32):
      %168 = "arith.addf"(%arg52, %arg53) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%168) : (f32) -> ()
    }) : (tensor<8x32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %131 = "linalg.generic"(%128, %44, %22) <{indexing_maps = [#map4, #map4, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg49: f32, %arg50: f32, %arg51: f32):
      %167 = "arith.mulf"(%arg49, %arg50) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%167) : (f32) -> ()
    }) : (tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
    %132 = "linalg.generic"(%131, %129) <{indexing_maps = [#map4, #map3], iterator_types = [#linalg.iterator_type<reduction>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg47: f32, %arg48: f32):
      %166 = "arith.addf"(%arg47, %arg48) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%166) : (f32) -> ()
    }) : (tensor<8x32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %133 = "linalg.generic"(%130, %48) <{indexing_maps = [#map6, #map6], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg45: f32, %arg46: f32):
      %165 = "arith.mulf"(%arg45, %12) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%165) : (f32) -> ()
    }) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %134 = "tensor.expand_shape"(%133) <{reassociation = [[0, 1]], static_output_shape = array<i64: 1, 32>}> : (tensor<32xf32>) -> tensor<1x32xf32>
    %135 = "linalg.generic"(%132, %48) <{indexing_maps = [#map6, #map6], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg43: f32, %arg44: f32):
      %164 = "arith.mulf"(%arg43, %12) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%164) : (f32) -> ()
    }) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %136 = "linalg.generic"(%47, %47, %48) <{indexing_maps = [#map6, #map6, #map6], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg40: f32, %arg41: f32, %arg42: f32):
      %163 = "arith.mulf"(%arg40, %arg41) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%163) : (f32) -> ()
    }) : (tensor<32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %137 = "linalg.generic"(%135, %136, %48) <{indexing_maps = [#map6, #map6, #map6], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg37: f32, %arg38: f32, %arg39: f32):
      %162 = "arith.mulf"(%arg37, %arg38) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%162) : (f32) -> ()
    }) : (tensor<32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %138 = "tensor.expand_shape"(%137) <{reassociation = [[0, 1]], static_output_shape = array<i64: 1, 32>}> : (tensor<32xf32>) -> tensor<1x32xf32>
    %139 = "linalg.generic"(%47, %arg2, %48) <{indexing_maps = [#map6, #map6, #map6], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg34: f32, %arg35: f32, %arg36: f32):
      %161 = "arith.mulf"(%arg34, %arg35) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%161) : (f32) -> ()
    }) : (tensor<32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %140 = "tensor.expand_shape"(%139) <{reassociation = [[0, 1]], static_output_shape = array<i64: 1, 32>}> : (tensor<32xf32>) -> tensor<1x32xf32>
    %141 = "linalg.generic"(%44, %138, %22) <{indexing_maps = [#map4, #map5, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg31: f32, %arg32: f32, %arg33: f32):
      %160 = "arith.mulf"(%arg31, %arg32) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%160) : (f32) -> ()
    }) : (tensor<8x32xf32>, tensor<1x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
    %142 = "linalg.generic"(%128, %141, %22) <{indexing_maps = [#map4, #map4, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg28: f32, %arg29: f32, %arg30: f32):
      %159 = "arith.subf"(%arg28, %arg29) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%159) : (f32) -> ()
    }) : (tensor<8x32xf32>, tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
    %143 = "linalg.generic"(%142, %134, %22) <{indexing_maps = [#map4, #map5, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg25: f32, %arg26: f32, %arg27: f32):
      %158 = "arith.subf"(%arg25, %arg26) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%158) : (f32) -> ()
    }) : (tensor<8x32xf32>, tensor<1x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
    %144 = "linalg.generic"(%143, %140, %22) <{indexing_maps = [#map4, #map5, #map4], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg22: f32, %arg23: f32, %arg24: f32):
      %157 = "arith.mulf"(%arg22, %arg23) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%157) : (f32) -> ()
    }) : (tensor<8x32xf32>, tensor<1x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
    %145 = "linalg.generic"(%132, %47, %48) <{indexing_maps = [#map6, #map6, #map6], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg19: f32, %arg20: f32, %arg21: f32):
      %156 = "arith.mulf"(%arg19, %arg20) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%156) : (f32) -> ()
    }) : (tensor<32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %146 = "tensor.empty"() : () -> tensor<32x8xf32>
    %147 = "linalg.transpose"(%144, %146) <{permutation = array<i64: 1, 0>}> ({
    ^bb0(%arg17: f32, %arg18: f32):
      "linalg.yield"(%arg17) : (f32) -> ()
    }) : (tensor<8x32xf32>, tensor<32x8xf32>) -> tensor<32x8xf32>
    %148 = "tensor.empty"() : () -> tensor<32x64xf32>
    %149 = "linalg.fill"(%16, %148) <{operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg15: f32, %arg16: f32):
      "linalg.yield"(%arg15) : (f32) -> ()
    }) : (f32, tensor<32x64xf32>) -> tensor<32x64xf32>
    %150 = "linalg.matmul"(%147, %arg8, %149) <{indexing_maps = [#map, #map1, #map2], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg12: f32, %arg13: f32, %arg14: f32):
      %154 = "arith.mulf"(%arg12, %arg13) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %155 = "arith.addf"(%arg14, %154) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%155) : (f32) -> ()
    }) : (tensor<32x8xf32>, tensor<8x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
    %151 = "linalg.generic"(%144, %39) <{indexing_maps = [#map4, #map5], iterator_types = [#linalg.iterator_type<reduction>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg10: f32, %arg11: f32):
      %153 = "arith.addf"(%arg10, %arg11) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%153) : (f32) -> ()
    }) : (tensor<8x32xf32>, tensor<1x32xf32>) -> tensor<1x32xf32>
    %152 = "tensor.collapse_shape"(%151) <{reassociation = [[0, 1]]}> : (tensor<1x32xf32>) -> tensor<32xf32>
    "func.return"(%51, %56, %95, %150, %152, %145, %130, %121, %125) : (tensor<32xf32>, tensor<32xf32>, tensor<f32>, tensor<32x64xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<10x32xf32>, tensor<10xf32>) -> ()
  }) : () -> ()
}) : () -> ()

