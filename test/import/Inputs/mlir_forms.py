"""Writes the files of mlir-forms.test into a folder."""

import sys
from pathlib import Path

BITS = [1, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1]

BLOB = """func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {{
  %m = "stablehlo.constant"() <{{value = dense<"0x{0}"> : tensor<16xi1>}}> : () -> tensor<16xi1>
  %y = "stablehlo.select"(%m, %x, %x) : (tensor<16xi1>, tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  return %y : tensor<16xf32>
}}
"""


def packed():
    return bytes(sum(bit << i for i, bit in enumerate(BITS[start:start + 8])) for start in (0, 8))


def main():
    folder = Path(sys.argv[1])
    files = {
        "pretty.mlir": "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
                       "  %0 = stablehlo.add %x, %x : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n",
        "unknown.mlir": "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n"
                        '  %0 = "other.a"(%x) : (tensor<f32>) -> tensor<f32>\n'
                        '  %1 = "other.b"(%0) : (tensor<f32>) -> tensor<f32>\n'
                        '  %2 = "other.a"(%1) : (tensor<f32>) -> tensor<f32>\n'
                        "  return %2 : tensor<f32>\n}\n",
        "transpose.mlir": "func.func @main(%x: tensor<2x3xf32>, %y: tensor<3x2xf32>) -> tensor<3x2xf32> {\n"
                          "  %0 = linalg.transpose ins(%x : tensor<2x3xf32>) "
                          "outs(%y : tensor<3x2xf32>) permutation = , 0]\n"
                          "  return %0 : tensor<3x2xf32>\n}\n",
        "bits.mlir": BLOB.format(packed().hex().upper()),
        "bytes.mlir": BLOB.format(bytes(BITS).hex().upper()),
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / "vhlo.mlir").write_bytes(b"ML\xefR\x0dStableHLO_v1.18.0\0" + bytes(64))
    (folder / "damaged.mlir").write_bytes(b"ML\xefR\x0dMLIR22.1.8\0" + b"\xff" * 64)


if __name__ == "__main__":
    main()
