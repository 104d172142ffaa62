Attention with segments counts the operations of rows that documents fill: 8 positions hold documents of 2, 4 and
20 tokens (rows of 8, 8 and 4), of which there are 4, 1 and 1.

RUN: split-file %s %t
RUN: zero-opt %t/m.mlir --zero-count-lengths=lengths=%t/lengths.txt | FileCheck %t/m.mlir
RUN: %python -c "import struct, sys; open(sys.argv[1], 'wb').write(struct.pack('<7Q', 0, 2, 6, 26, 28, 30, 32))" %t/starts.bin
RUN: zero-opt %t/m.mlir --zero-count-lengths=lengths=%t | FileCheck %t/m.mlir

What cannot be read, and an option without an effect, are errors.
RUN: not zero-opt %t/m.mlir --zero-count-lengths=lengths=%t/absent 2>&1 | FileCheck %s --check-prefix=ABSENT
ABSENT: error: cannot read --lengths={{.*}}absent: {{.*}}absent: No such file or directory
RUN: not zero-opt %t/m.mlir --zero-count-lengths=lengths=%t/wrong.txt 2>&1 | FileCheck %s --check-prefix=WRONG
WRONG: error: cannot read --lengths={{.*}}wrong.txt: {{.*}}wrong.txt: line 2: expected the length of documents, at most 2147483648, and their number, got '0 3'
RUN: not zero-opt %t/m.mlir --zero-count-lengths=lengths=%t/empty.txt 2>&1 | FileCheck %s --check-prefix=EMPTY
EMPTY: error: cannot read --lengths={{.*}}empty.txt: {{.*}}empty.txt: it has no documents
RUN: mkdir -p %t/folder && %python -c "import struct, sys; open(sys.argv[1], 'wb').write(struct.pack('<3Q', 0, 2, 1))" %t/folder/starts.bin
RUN: not zero-opt %t/m.mlir --zero-count-lengths=lengths=%t/folder 2>&1 | FileCheck %s --check-prefix=STARTS
STARTS: error: cannot read --lengths={{.*}}folder: {{.*}}starts.bin: expected the starts of documents, none of them empty
RUN: not zero-opt %t/none.mlir --zero-count-lengths=lengths=%t/lengths.txt 2>&1 | FileCheck %s --check-prefix=NONE
NONE: error: --lengths has no effect: no attention has segments, which tell the documents of a row apart (see --documents)

//--- lengths.txt
2 4
4 1

20 1
//--- wrong.txt
2 4
0 3
//--- empty.txt
2 0
//--- none.mlir
func.func private @whole() attributes {zero.kernel, zero.flops = 100 : i64, zero.bytes = 1 : i64}
//--- m.mlir
// Pairs of documents: 4 * 3 + 10 + 2 * 36 + 10 = 104 of 32 tokens, so 26 of 8; one document has 36.
// CHECK: @causal()
// CHECK-SAME: zero.flops = 7222 : i64
func.func private @causal() attributes {zero.kernel, zero.flops = 10000 : i64, zero.bytes = 1 : i64,
  zero.library = #zero.library<#zero.attention<direction = forward, batch = 1, heads = 1, groups = 1, queries = 8, keys = 8, width = 1, value_width = 1, q_strides = [8, 8, 1], k_strides = [8, 8, 1], v_strides = [8, 8, 1], o_strides = [8, 8, 1], offsets = [], scale = 1.0 : f32, causal = true, causal_offset = 0, fill = 0.0 : f32, padding = none, padding_strides = [], mask = none, mask_strides = [], segments = true, query_segment_stride = 8, key_segment_stride = 8>>}
// A window of 3: 4 * 3 + 9 + 2 * 21 + 9 = 72, so 18 of 21.
// CHECK: @window()
// CHECK-SAME: zero.flops = 8571 : i64
func.func private @window() attributes {zero.kernel, zero.flops = 10000 : i64, zero.bytes = 1 : i64,
  zero.library = #zero.library<#zero.attention<direction = backward, batch = 1, heads = 1, groups = 1, queries = 8, keys = 8, width = 1, value_width = 1, q_strides = [8, 8, 1], k_strides = [8, 8, 1], v_strides = [8, 8, 1], o_strides = [8, 8, 1], offsets = [], scale = 1.0 : f32, causal = true, causal_offset = 0, fill = 0.0 : f32, padding = none, padding_strides = [], mask = none, mask_strides = [], window = 3, segments = true, query_segment_stride = 8, key_segment_stride = 8>>}
// All keys of the document: 4 * 4 + 16 + 2 * 64 + 16 = 176, so 44 of 64.
// CHECK: @all()
// CHECK-SAME: zero.flops = 6875 : i64
func.func private @all() attributes {zero.kernel, zero.flops = 10000 : i64, zero.bytes = 1 : i64,
  zero.library = #zero.library<#zero.attention<direction = forward, batch = 1, heads = 1, groups = 1, queries = 8, keys = 8, width = 1, value_width = 1, q_strides = [8, 8, 1], k_strides = [8, 8, 1], v_strides = [8, 8, 1], o_strides = [8, 8, 1], offsets = [], scale = 1.0 : f32, causal_offset = 0, fill = 0.0 : f32, padding = none, padding_strides = [], mask = none, mask_strides = [], segments = true, query_segment_stride = 8, key_segment_stride = 8>>}
// Without segments the data has no influence.
// CHECK: @whole()
// CHECK-SAME: zero.flops = 10000 : i64
func.func private @whole() attributes {zero.kernel, zero.flops = 10000 : i64, zero.bytes = 1 : i64,
  zero.library = #zero.library<#zero.attention<direction = forward, batch = 1, heads = 1, groups = 1, queries = 8, keys = 8, width = 1, value_width = 1, q_strides = [8, 8, 1], k_strides = [8, 8, 1], v_strides = [8, 8, 1], o_strides = [8, 8, 1], offsets = [], scale = 1.0 : f32, causal = true, causal_offset = 0, fill = 0.0 : f32, padding = none, padding_strides = [], mask = none, mask_strides = []>>}
