"""bash completes the options of each tool, their words, and files.

usage: check_completion.py
"""

import subprocess
import sys

# A tool, the words of a line as bash splits them, and the completions of the last one.
LINES = [
    ("zeroc", ["zeroc", "--zero-st"], ["--zero-stage="]),
    ("zeroc", ["zeroc", "--precision", "=", ""], ["fp32", "bf16", "fp16"]),
    ("zeroc", ["zeroc", "--precision", "=", "f"], ["fp32", "fp16"]),
    ("zeroc", ["zeroc", "--precision", "="], ["fp32", "bf16", "fp16"]),
    ("zeroc", ["zeroc", "--precision", "b"], ["bf16"]),
    ("zeroc", ["zeroc", "m.onnx", "--nest"], ["--nesterov"]),
    ("zeroc", ["zeroc", "--optimizer", "=", "a"], []),
    ("zeroc", ["zeroc", "m"], []),
    ("zeroc", ["zeroc", "--allow-s"], ["--allow-symlinks"]),
    ("zero-run", ["zero-run", "--weights"], ["--weights=", "--weights-partial"]),
    ("zero-run", ["zero-run", "--device", "=", ""], ["cpu", "cuda"]),
    ("zero-run", ["zero-run", "--grad-r"], ["--grad-reduce="]),
    ("zero-run", ["zero-run", "--grad-reduce", "=", "l"], ["last"]),
    ("zero-run", ["zero-run", "--profil"], ["--profile"]),
    ("zero-sim", ["zero-sim", "m.zexe", "--what"], ["--what-if="]),
    ("zero-opt", ["zero-opt", "--zero-phase-s"],
     ["--zero-phase-schedule=", "--zero-phase-shape=", "--zero-phase-shard=", "--zero-phase-step="]),
    ("zero-opt", ["zero-opt", "--attention", "=", "p"], ["products"]),
    ("zero-translate", ["zero-translate", "--imp"], ["--import-onnx"]),
]


def completions(script, tool, words):
    line = " ".join(f"'{word}'" for word in words)
    function = "_" + tool.replace("-", "_")
    done = subprocess.run(["bash", "-c", f"{script}\nCOMP_WORDS=({line}); COMP_CWORD={len(words) - 1}\n"
                           f"{function}; printf '%s\\n' \"${{COMPREPLY[@]}}\"; complete -p {tool}"],
                          capture_output=True, text=True, check=True)
    assert not done.stderr, done.stderr
    *found, command = done.stdout.splitlines()
    assert command == f"complete -o default -F {function} {tool}", command
    return [each for each in found if each]


def main():
    scripts = {}
    for tool, words, expected in LINES:
        if tool not in scripts:
            scripts[tool] = subprocess.run([tool, "--completion=bash"], capture_output=True,
                                           text=True, check=True).stdout
        found = completions(scripts[tool], tool, words)
        if sorted(found) != sorted(expected):
            sys.exit(f"{words}: expected {expected}, got {found}")


main()
