"""Text to tokens: ids and masks of each form of a sample, compared with the tokenizers library and
with what transformers 5.24 gives for the same templates; files of each kind; errors by name; the
same bytes for any number of processes, and after a kill.

usage: check_tokenize.py DATA WORK
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from make_tokenizer import CHATML, GENERATION, LLAMA3, REASONING, make_folder
from tokenizers import Tokenizer

from zero import BadDataError, InvalidArgumentError, NotFoundError, ZeroError, tokenize
from zero.text import corpus as files
from zero_test import Checks

CONVERSATION = [{"role": "system", "content": "Be brief. "},
                {"role": "user", "content": "Whose crown?"},
                {"role": "assistant", "content": " The king's — 王 🎭\n"},
                {"role": "user", "content": "And now"},
                {"role": "assistant", "content": "No more", "reasoning_content": "hm"}]

# apply_chat_template(CONVERSATION, tokenize=True) of transformers.
CHATML_IDS = [
    2, 90, 96, 326, 456, 206, 41, 76, 281, 368, 76, 77, 21, 228, 3, 206, 2, 92, 90, 272, 206, 62,
    79, 86, 320, 286, 89, 336, 85, 38, 3, 206, 2, 298, 90, 277, 91, 454, 206, 228, 431, 442, 285,
    420, 228, 166, 230, 250, 228, 171, 244, 241, 228, 180, 261, 244, 263, 206, 3, 206, 2, 92, 90,
    272, 206, 40, 283, 297, 336, 3, 206, 2, 298, 90, 277, 91, 454, 206, 53, 86, 278, 397, 3, 206]
LLAMA3_IDS = [
    4, 5, 90, 96, 326, 456, 6, 206, 206, 41, 76, 281, 368, 76, 77, 21, 7, 5, 92, 90, 272, 6, 206,
    206, 62, 79, 86, 320, 286, 89, 336, 85, 38, 7, 5, 298, 90, 277, 91, 454, 6, 206, 206, 431, 442,
    285, 420, 228, 166, 230, 250, 228, 171, 244, 241, 228, 180, 261, 244, 263, 7, 5, 92, 90, 272, 6,
    206, 206, 40, 283, 297, 336, 7, 5, 298, 90, 277, 91, 454, 6, 206, 206, 53, 86, 278, 397, 7]


class Case:
    """A folder with a tokenizer, and corpora that are written for it."""

    def __init__(self, work, text, template=CHATML, **config):
        self.work = Path(work)
        self.folder = self.work / "model"
        self.tokenizer = make_folder(self.folder, text, template, **config)
        self.number = 0

    def corpus(self, samples, name="corpus.jsonl"):
        path = self.work / name
        path.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in samples))
        return path

    def tokenize(self, corpus, **arguments):
        self.number += 1
        output = self.work / f"tokens{self.number}"
        return Tokens(output, tokenize(self.folder, corpus, output, **arguments))

    def of(self, *samples, **arguments):
        return self.tokenize(self.corpus(samples), **arguments)

    def decode(self, ids):
        return self.tokenizer.decode(list(ids), skip_special_tokens=False)


class Tokens:
    """The files of a folder, read as the page on the format says."""

    def __init__(self, folder, manifest):
        self.manifest = manifest
        assert json.loads((folder / "tokens.json").read_text()) == manifest
        ids = np.fromfile(folder / "ids.bin", manifest["id_type"])
        mask = np.fromfile(folder / "mask.bin", np.uint8)
        starts = np.fromfile(folder / "starts.bin", np.uint64)
        assert len(ids) == len(mask) == starts[-1] == manifest["tokens"]
        assert len(starts) == manifest["documents"] + 1 and starts[0] == 0
        self.documents = [(ids[a:b].tolist(), mask[a:b].tolist())
                          for a, b in zip(starts, starts[1:])]

    def trained(self, document=0):
        ids, mask = self.documents[document]
        return [id for id, counts in zip(ids, mask) if counts]


def same_bytes(*folders):
    names = [sorted(path.name for path in folder.iterdir()) for folder in folders]
    return all(each == names[0] for each in names) and all(
        len({(folder / name).read_bytes() for folder in folders}) == 1 for name in names[0])


#===-----------------------------------------------------------------------===#
# Samples
#===-----------------------------------------------------------------------===#

def check_templates(checks, work, text):
    end = {"eos_token": "<|im_end|>"}
    for name, template, config, ids, trained in (
            ("chatml", CHATML, end, CHATML_IDS,
             " The king's — 王 🎭\n<|im_end|>\nNo more<|im_end|>\n"),
            ("llama3", LLAMA3, {"bos_token": "<|begin_of_text|>", "begins": True}, LLAMA3_IDS,
             "The king's — 王 🎭<|eot_id|>No more<|eot_id|>"),
            ("generation", GENERATION, end, CHATML_IDS,
             " The king's — 王 🎭\n<|im_end|>No more<|im_end|>"),
            ("reasoning", REASONING, end, None,
             " The king's — 王 🎭\n<|im_end|>\n<think>\nhm\n</think>\n\nNo more<|im_end|>\n")):
        case = Case(work / name, text, template, **config)
        tokens = case.of({"messages": CONVERSATION})
        checks.that(ids is None or tokens.documents[0][0] == ids, f"{name}: {tokens.documents}")
        got = case.decode(tokens.trained())
        checks.that(got == trained, f"{name}: trained on {got!r}")
        last = case.decode(case.of({"messages": CONVERSATION}, train_on="last").trained())
        checks.that(trained.endswith(last) and "No more" in last and "king" not in last,
                    f"{name}: last is {last!r}")
        everything = case.of({"messages": CONVERSATION}, train_on="all")
        checks.that(everything.documents[0] == (tokens.documents[0][0],
                                                [1] * len(tokens.documents[0][0])),
                    f"{name}: all")


def check_template_forms(checks, case):
    """A file precedes the configuration; tools, other values and a date reach the template."""
    template = case.folder / "chat_template.jinja"
    template.write_text("{{ strftime_now('%Y') }}{% if tools %}{{ tools | tojson }}{% endif %}"
                        "{% for m in messages %}{{ mood }}{{ m.content }}{% endfor %}")
    sample = {"messages": [{"role": "user", "content": "<q>", "name": None},
                           {"role": "assistant", "content": "Ä"}],
              "tools": [{"name": "ö"}], "chat_template_kwargs": {"mood": "!"}}
    tokens = case.of(sample, date="2031-02-03")
    got = case.decode(tokens.documents[0][0])
    checks.that(got == '2031[{"name": "ö"}]!<q>!Ä', f"tools and values: {got}")
    checks.that(case.decode(tokens.trained()) == "!Ä", f"{tokens.trained()}")
    checks.that(tokens.manifest["arguments"]["date"] == "2031-02-03", f"{tokens.manifest}")
    for source in ("{{ messages.__class__.__mro__ }}", "{{ messages.append(1) }}",
                   "{{ raise_exception('roles must alternate') }}"):
        template.write_text(source)
        refused(checks, source, BadDataError, ["corpus.jsonl', line 1", "chat template"],
                lambda: case.of({"messages": CONVERSATION}))
    template.unlink()


def check_texts(checks, case):
    end = case.tokenizer.token_to_id("<|endoftext|>")
    for text in ("First Citizen:", "naïve — 王 🎭", " ", "a\n\nb", "<|im_end|>x"):
        ids = case.tokenizer.encode(text).ids
        tokens = case.of({"text": text})
        checks.that(tokens.documents == [(ids + [end], [1] * (len(ids) + 1))], f"{text!r}")
        if len(ids) > 1:
            got = case.of({"text": text}, append_eos=False).documents
            checks.that(got == [(ids, [1] * len(ids))], f"{text!r} without EOS: {got}")
    both = {"prompt": "Speak: ", "completion": "Hear me 王"}
    ids = case.tokenizer.encode("Speak: Hear me 王").ids + [end]
    tokens = case.of(both)
    checks.that(tokens.documents[0][0] == ids, f"completion: {tokens.documents}")
    # The blank and "Hear" are one token or two; the boundary is inside of it or before "Hear".
    got = case.decode(tokens.trained())
    checks.that(got.lstrip(" ") == "Hear me 王<|endoftext|>", f"completion: trained on {got!r}")
    chat = {"prompt": CONVERSATION[:2], "completion": CONVERSATION[2:3]}
    got = case.decode(case.of(chat).trained())
    checks.that(got == " The king's — 王 🎭\n<|im_end|>\n", f"conversation: {got!r}")


def check_bos(checks, work, text):
    """tokenizer_config.json adds and removes what tokenizer.json has."""
    first = "<|begin_of_text|>"
    for begins in (False, True):
        for adds in (None, False, True):
            case = Case(work / f"bos{begins}{adds}", text, begins=begins, bos_token=first,
                        add_bos_token=adds)
            ids = case.of({"text": "Who goes"}).documents[0][0]
            has = case.decode(ids).startswith(first)
            checks.that(has == (begins if adds is None else adds), f"BOS: {begins}, {adds}: {ids}")


def check_counts(checks, case):
    long = {"text": "all the world's a stage " * 20}
    length = len(case.tokenizer.encode(long["text"]).ids) + 1
    samples = [long, {"text": ""}, {"text": "short one"}, {"messages": []},
               {"messages": CONVERSATION[:2]}, {"prompt": "what", "completion": ""},
               {"prompt": long["text"], "completion": "lost"}]
    expected = {"samples": 7, "empty": 3, "overlong": 3}
    for overlong, documents in (("truncate", 2), ("drop", 1), ("split", -(-length // 16) + 2)):
        tokens = case.of(*samples, max_length=16, overlong=overlong)
        counts = tokens.manifest["counts"]
        checks.that(expected.items() <= counts.items(), f"{overlong}: {counts}")
        lengths = [len(ids) for ids, _ in tokens.documents]
        checks.that(max(lengths) <= 16 and tokens.manifest["longest"] == max(lengths), f"{lengths}")
        # A piece of the completion, whose first token is no label, may have none.
        checks.that(len(lengths) in (documents, documents - 1), f"{overlong}: {lengths}")
        if overlong == "truncate":
            checks.that(counts["untrained"] == 2 and counts["lost_tokens"] > length - 16,
                        f"{counts}")
    refused(checks, "nothing", BadDataError, ["no sample", "1 of them empty"],
            lambda: case.of({"text": ""}))


#===-----------------------------------------------------------------------===#
# Files
#===-----------------------------------------------------------------------===#

def check_files(checks, case):
    texts = ["one 王", "two\tthree", "four"]
    expected = case.of(*({"text": text} for text in texts)).documents
    objects = json.dumps([{"text": text} for text in texts], ensure_ascii=False)
    lines = [json.dumps({"text": text}) for text in texts]
    for name, contents in (
            ("blank.jsonl", "\n" + "\n\r\n".join(lines)),
            ("mark.jsonl", "\ufeff" + "\n".join(lines)),
            ("list.json", objects), ("lines.json", "\n".join(lines)),
            ("wide.json", "\ufeff [\n " + objects[1:-1].replace("},", "} \n,\n") + " ]\n"),
            ("lines.txt", "\n".join(texts) + "\n"), ("windows.txt", "\r\n".join(texts))):
        path = case.work / name
        path.write_text(contents, newline="")
        checks.that(case.tokenize(path).documents == expected, f"{name} differs")
    path.write_text("a\nb\n\n\n\nc\r\n\r\nd", newline="")
    got = case.tokenize(path, sample_by="paragraph").documents
    checks.that(got == case.of(*({"text": t} for t in ("a\nb", "c", "d"))).documents, f"{got}")
    got = case.tokenize(path, sample_by="document").documents
    checks.that(got == case.of({"text": "a\nb\n\n\n\nc\r\n\r\nd"}).documents, f"{got}")
    got = case.tokenize([path, case.work / "list.json"], sample_by="document").documents
    checks.that(got[1:] == expected, "two files differ")


def check_chunks(checks, case):
    """Small chunks cut every file at other places; the documents are the same."""
    texts = [f"line {i} " + "x" * (i % 70) for i in range(60)]
    objects = [{"text": text} for text in texts]
    whole = {}
    for size in (1 << 20, 1, 7, 64, 1000):
        files.CHUNK = size
        for name, contents, by in (("c.jsonl", "\n".join(map(json.dumps, objects)), "line"),
                                   ("c.json", json.dumps(objects), "line"),
                                   ("c.txt", "\n\n\n".join(texts), "paragraph")):
            path = case.work / name
            if size == 1 << 20:
                path.write_text(contents)
            got = case.tokenize(path, sample_by=by, processes=1).documents
            checks.that(got == whole.setdefault(name, got) and len(got) == 60, f"{name} by {size}")
    files.CHUNK = 1 << 20


def refused(checks, what, kind, words, call):
    try:
        call()
    except kind as error:
        missing = [word for word in words if word not in str(error)]
        checks.that(not missing, f"{what}: the error lacks {missing}: {error}")
    except Exception as error:
        checks.that(False, f"{what}: {type(error).__name__} instead of {kind.__name__}: {error}")
    else:
        checks.that(False, f"{what} is accepted")


def check_errors(checks, case):
    good = json.dumps({"text": "good"})
    for contents, name, words in (
            (f"{good}\n\n{{'text'}}\n", "bad.jsonl", ["bad.jsonl', line 3", "JSON"]),
            (f"{good}\n{{\"text\": 5}}\n", "bad.jsonl", ["line 2", "'text' as a text, got int"]),
            (f"{good}\n[1]\n", "bad.jsonl", ["line 2", "'messages'", "got list"]),
            ('{"question": "?"}\n', "bad.jsonl", ["line 1", "'completion'", "'question'"]),
            ('{"messages": "hi"}', "bad.jsonl", ["line 1", "'messages' as a list"]),
            ('{"messages": ["hi"]}', "bad.jsonl", ["line 1", "'role'"]),
            ('{"prompt": "a", "completion": []}', "bad.jsonl", ["line 1", "both as texts"]),
            ('{"text": "\\ud800"}', "bad.jsonl", ["line 1", "surrogate"]),
            (f"[{good}, {good}, {{]", "bad.json", ["bad.json', item 3", "JSON"]),
            (f"[{good}, {good}", "bad.json", ["item 3", "the end of the file"]),
            (f"[{good} {good}]", "bad.json", ["item 2", "expected ','"]),
            ("x", "corpus.csv", [".jsonl, .json, .txt or .parquet"])):
        path = case.work / name
        path.write_text(contents)
        refused(checks, contents, BadDataError, words, lambda: case.tokenize(path))
    path = case.work / "bytes.txt"
    path.write_bytes(b"fine\nna\xefve")
    refused(checks, "Latin-1", BadDataError, ["bytes.txt', line 2", "UTF-8", "0xef"],
            lambda: case.tokenize(path))
    refused(checks, "no file", NotFoundError, ["nowhere.jsonl"],
            lambda: case.tokenize("nowhere.jsonl"))
    table = case.work / "table.parquet"
    table.write_bytes(b"PAR1")
    sys.modules["pyarrow"] = None  # as if it were not installed
    refused(checks, "no pyarrow", ZeroError, ["table.parquet", "pip install pyarrow"],
            lambda: case.tokenize(table))
    path = case.corpus([{"text": "x"}])
    for name, value, words in (("max_length", 1, ["at least 2"]), ("train_on", "some", ["last"]),
                               ("processes", 0, ["at least 1"]), ("sample_by", "word", ["line"])):
        refused(checks, name, InvalidArgumentError, [name, *words],
                lambda: case.tokenize(path, **{name: value}))
    for library in ("tokenizers", "jinja2"):
        held = sys.modules.pop(library)
        sys.modules[library] = None
        refused(checks, library, ZeroError, [f"pip install {library}"],
                lambda: case.tokenize(path))
        sys.modules[library] = held
    other = Case(case.work / "other", case.folder / "tokenizer.json", None, eos_token=None)
    refused(checks, "no template", ZeroError, ["no chat template", "--chat-template"],
            lambda: other.of({"messages": CONVERSATION}, append_eos=False))
    refused(checks, "no EOS", InvalidArgumentError, ["no EOS", "--no-eos"],
            lambda: other.of({"text": "x"}))
    (other.folder / "tokenizer.json").write_text("{}")
    refused(checks, "no tokenizer", ZeroError, ["tokenizer.json'"], lambda: other.of({"text": "x"}))
    (other.folder / "tokenizer.json").unlink()
    sys.modules["transformers"] = None
    refused(checks, "no file of a tokenizer", NotFoundError,
            ["no tokenizer.json", "pip install transformers"], lambda: other.of({"text": "x"}))


#===-----------------------------------------------------------------------===#
# Processes
#===-----------------------------------------------------------------------===#

def command(case, corpus, output, *flags):
    return [sys.executable, case.work / "often.py", case.folder, corpus, "-o", output, *flags]


# Cuts and records more often than a user's run does, so that a small corpus is enough.
OFTEN = """import sys
from zero.text import command, corpus, writer
if __name__ == "__main__":
    corpus.CHUNK, writer._SECONDS = 1 << 15, 0
    command.main(sys.argv[1:])
"""


def kill_once_begun(words, output):
    """Kills a run between its first record and its end; whether that was in time."""
    process = subprocess.Popen([str(word) for word in words], start_new_session=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None and not (output / "unfinished.json").exists():
        time.sleep(0.01)
    if process.poll() is None:
        os.kill(process.pid, signal.SIGKILL)
    process.wait()
    return (output / "unfinished.json").exists()


def check_processes(checks, case, text):
    """Equal bytes by one and two processes, and by a run that was killed and repeated."""
    words = text.read_text().split()
    corpus = case.corpus(({"text": " ".join(words[i % 900:i % 900 + 150]) + f" {i}"}
                          for i in range(1500)), "large.jsonl")
    (case.work / "often.py").write_text(OFTEN)
    one, two, killed = (case.work / name for name in ("one", "two", "killed"))
    said = {}
    for output, count in ((one, 1), (two, 2)):
        done = subprocess.run(command(case, corpus, output, f"--processes={count}"),
                              capture_output=True, text=True)
        checks.that(done.returncode == 0 and "1,500 documents" in done.stdout, f"{done}")
        said[count] = done.stdout.splitlines()[0].split(": ")[1]
    checks.that(said[1] == said[2], f"{said}")
    checks.that(same_bytes(one, two), "two processes give other bytes")
    words = command(case, corpus, killed, "--processes=2")
    checks.that(kill_once_begun(words, killed), "the run was not killed before its end")
    checks.that(not (killed / "tokens.json").exists(), "a killed run is complete")
    done = subprocess.run([*words, "--max-length=9"], capture_output=True, text=True)
    checks.that(done.returncode == 1 and "max_length was null, and is 9" in done.stderr
                and "--overwrite" in done.stderr, f"other arguments: {done}")
    state = json.loads((killed / "unfinished.json").read_text())
    checks.that(0 < state["chunks"] < corpus.stat().st_size >> 15, f"{state['chunks']} chunks")
    done = subprocess.run(words, capture_output=True, text=True)
    checks.that(done.returncode == 0 and same_bytes(one, killed),
                f"a killed run that was repeated gives other bytes: {done}")
    before = (killed / "tokens.json").stat().st_mtime_ns
    tokenize(case.folder, str(corpus), killed)
    checks.that((killed / "tokens.json").stat().st_mtime_ns == before,
                "complete tokens are made again")
    small = case.corpus([{"text": "another"}])
    refused(checks, "other corpus", InvalidArgumentError, ["corpus was"],
            lambda: tokenize(case.folder, small, killed))
    manifest = tokenize(case.folder, small, killed, overwrite=True)
    checks.that(Tokens(killed, manifest).manifest["documents"] == 1, f"{manifest}")


def check_manifest(checks, case, work, text):
    manifest = case.of({"text": "one two"}).manifest
    expected = {"format": "zero-tokens", "version": 1, "vocabulary": 500, "pad_id": 1, "eos_id": 0,
                "id_type": "uint16", "labels": "same"}
    checks.that(expected.items() <= manifest.items(), f"{manifest}")
    # A vocabulary above 65,536 is written as 32 bits.
    wide = Case(work / "wide", text)
    tokenizer = Tokenizer.from_file(str(wide.folder / "tokenizer.json"))
    tokenizer.add_tokens([f"<extra{i}>" for i in range(66000)])
    tokenizer.save(str(wide.folder / "tokenizer.json"))
    tokens = wide.of({"text": "a<extra65999>"})
    checks.that(tokens.manifest["id_type"] == "uint32" and tokens.documents[0][0][1] == 66499,
                f"{tokens.manifest} {tokens.documents}")


def main():
    data, work = map(Path, sys.argv[1:])
    text = data / "gpt-bytes" / "text.txt"
    checks = Checks()
    case = Case(work / "main", text)
    check_templates(checks, work, text)
    check_template_forms(checks, case)
    check_texts(checks, case)
    check_bos(checks, work, text)
    check_counts(checks, case)
    check_files(checks, case)
    check_chunks(checks, case)
    check_manifest(checks, case, work, text)
    check_processes(checks, case, text)
    check_errors(checks, case)
    checks.finish()


if __name__ == "__main__":
    main()
