"""With one file of algorithms, all stages, ranks and runs compute the same bits, whatever is the
fastest when they run. With "off", cuBLASLt's first choice runs. By default the file is in the folder
of caches, and a run that resumes takes the algorithms of its checkpoint.

usage: check_gpu_algorithms.py DATA WORK
"""

import json
import os
import shutil
import sys
from pathlib import Path

from zero_test import Checks, Graph, check_refused, run_tool

STEPS = 3
# Graph, flags of zeroc.
CASES = (("mlp", ["--optimizer=adamw", "--lr=1e-3"]), ("gpt2-tiny", ["--precision=bf16"]))


def set_fastest(number):
    """The algorithm that is the fastest from now on: see test/unit/gpu/recording.h."""
    os.environ["ZERO_RECORDING_FASTEST"] = str(number)


def check_graph(checks, data, work, name, flags):
    graph = Graph(data, name, work / name)
    file = graph.work / "algorithms.json"
    file.unlink(missing_ok=True)

    def run(stage, *more, ranks=2):
        executable = graph.compile(stage, ranks, "--device=cuda", graph.shape_flag(), *flags)
        return graph.run(executable, STEPS, *more, has_gradients=False)

    use = f"--gpu-algorithms={file}"
    set_fastest(2)
    first = run(0, use)
    products = json.loads(file.read_text())["products"]
    checks.that(products and all(each["nanoseconds"] < each["first_nanoseconds"] for each in products),
                f"{name}: not the fastest: {products}")
    plain = run(0, "--gpu-algorithms=off")
    checks.that(not plain.same_bits(first), f"{name}: the algorithms have the same bits")
    text = file.read_text()
    for fastest, stage in ((2, 3), (1, 2), (3, 3)):
        set_fastest(fastest)
        checks.that(run(stage, use).same_bits(first), f"{name}: stage {stage} has other bits than stage 0")
        checks.that(run(stage, "--gpu-algorithms=off").same_bits(plain), f"{name}: stage {stage} differs without the file")
    checks.that(file.read_text() == text, f"{name}: a stage has products that stage 0 has not")
    threads, processes = run(2, use, "--gpus=0,1"), run(2, use, "--processes=2")
    checks.that(threads.same_bits(processes), f"{name}: processes have other bits than threads")
    other = graph.work / "other.json"
    other.unlink(missing_ok=True)
    checks.that(not run(0, f"--gpu-algorithms={other}").same_bits(first), f"{name}: other algorithms, same bits")
    checks.that([each["product"] for each in json.loads(other.read_text())["products"]]
                == [each["product"] for each in products], f"{name}: other products")
    return graph, file


def check_default(checks, graph):
    """Products are timed once for the folder of caches, and a run that resumes computes what it would
    have without an end, wherever it goes on."""
    cache, state = graph.work / "cache", graph.work / "state"
    os.environ["XDG_CACHE_HOME"] = str(cache)
    executable = graph.work / "s2r2.zexe"

    def train(steps, *more):
        """The last loss, and all that is printed."""
        log = graph.work / "default.jsonl"
        log.unlink(missing_ok=True)
        text = run_tool("zero-run", executable, graph.data_flag, f"--steps={steps}", f"--log={log}", *more)
        return json.loads(log.read_text().splitlines()[-1])["loss"], text

    def empty(exists=True):
        shutil.rmtree(cache, ignore_errors=True)
        if exists:
            (cache / "zero").mkdir(parents=True)

    timed = "were timed on the GPU"
    empty()
    set_fastest(2)
    whole, text = train(4)
    files = list((cache / "zero").glob("*.json"))
    checks.that([file.name for file in files] == ["gpu-algorithms-recording-sm_90-cublaslt-130000.json"], files)
    checks.that(text.count(timed) == 1 and f"in '{files[0]}' now" in text, text)
    shutil.rmtree(state, ignore_errors=True)
    _, text = train(2, f"--save-state={state}")
    checks.that(timed not in text, text)
    resume = f"--resume={state}"
    set_fastest(1)
    for how, more in (("", []), ("", ["--processes=2", "--gpus=0,1"]), (None, [])):
        empty(how is not None)
        # Ranks on two GPUs add in NCCL's order, here that of ranks.
        loss, text = train(4, resume, *more)
        checks.that(loss == whole, f"{how}, {more}: {loss} instead of {whole}")
        checks.that((timed in text) == (how is not None), text)
        checks.that("other algorithms than" not in text, text)
    others = [train(4, resume, f"--gpu-algorithms={word}")[0] for word in ("off", graph.work / "new.json")]
    checks.that(whole not in others and others[0] != others[1], f"{whole}, {others}")


def check_foreign(checks, graph, file):
    """A file of another library is an error, and stays."""
    file.write_text(file.read_text().replace('"cublaslt": 130000', '"cublaslt": 120000'))
    text = file.read_text()
    check_refused(checks, "foreign", ["and cuBLASLt 120000; remove it to time products again"], "zero-run",
                  graph.work / "s2r2.zexe", graph.data_flag, "--steps=1", f"--gpu-algorithms={file}")
    checks.that(file.read_text() == text, "a foreign file is changed")


def main():
    data, work = sys.argv[1], Path(sys.argv[2])
    checks = Checks()
    for name, flags in CASES:
        graph, file = check_graph(checks, data, work, name, flags)
    check_foreign(checks, graph, file)
    check_default(checks, graph)
    checks.finish()


if __name__ == "__main__":
    main()
