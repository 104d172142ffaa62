"""python -m zero tokenize."""

import argparse
import sys
import time

from ..errors import ZeroError
from .choices import LABELS, OVERLONG, SAMPLE_BY, TRAINED


def make_parser():
    """The parser of the command line. The page of all flags lists it, by a Python without numpy."""
    parser = argparse.ArgumentParser(
        prog="python -m zero tokenize",
        description="Write the tokens of a corpus as a folder that zero-run --data reads in place.")
    add = parser.add_argument
    add("folder", metavar="FOLDER", help="Hugging Face folder with tokenizer.json")
    add("corpus", metavar="CORPUS", nargs="+", help=".jsonl, .json, .txt or .parquet")
    add("-o", "--output", required=True, metavar="TOKENS", help="folder to write")
    add("--train-on", choices=TRAINED, default="completions",
        help="tokens that the loss counts: what the assistant writes (default), its last message, "
             "or all")
    add("--max-length", type=int, metavar="N", help="tokens of a document (default: any number)")
    add("--overlong", choices=OVERLONG, default="truncate",
        help="what becomes of longer documents (default: truncate)")
    add("--labels", choices=LABELS, default="same",
        help="same (default): the model shifts its labels itself, as those of Hugging Face; "
             "shifted: it does not")
    add("--no-eos", action="store_true", help="append no EOS token to texts and completions")
    add("--sample-by", choices=SAMPLE_BY, default="line",
        help="what is a sample of a .txt (default: line)")
    add("--chat-template", metavar="FILE", help="template in place of the folder's")
    add("--date", metavar="YYYY-MM-DD", help="for templates that write today's date")
    add("--processes", type=int, metavar="N", help="default: all cores")
    add("--overwrite", action="store_true", help="replace tokens of other arguments")
    add("--quiet", action="store_true", help="print errors only")
    return parser


def left_out(manifest):
    """Lines that say what of a corpus is in no document."""
    counts = manifest["counts"]
    if counts["overlong"]:
        yield (f"{counts['overlong']:,} of {counts['samples']:,} samples were longer than "
               f"{manifest['arguments']['max_length']:,} tokens "
               f"({manifest['arguments']['overlong']}); {counts['lost_tokens']:,} tokens are "
               f"left out")
    if counts["empty"] or counts["untrained"]:
        yield (f"left out: {counts['empty']:,} empty samples, {counts['untrained']:,} "
               f"without tokens for the loss")


def _summary(output, manifest, seconds):
    first = (f"{output}: {manifest['documents']:,} documents, {manifest['tokens']:,} tokens, "
             f"{manifest['trained_tokens']:,} of them trained, longest {manifest['longest']:,}, "
             f"{manifest['id_type']} ids of a vocabulary of {manifest['vocabulary']:,}")
    return "\n".join([first, *left_out(manifest),
                      f"{seconds:.1f} s, {manifest['tokens'] / seconds:,.0f} tokens/s"])


def main(words):
    asked = make_parser().parse_args(words)
    from .run import tokenize
    begin = time.monotonic()
    try:
        manifest = tokenize(
            asked.folder, asked.corpus, asked.output, train_on=asked.train_on,
            max_length=asked.max_length, overlong=asked.overlong, labels=asked.labels,
            append_eos=not asked.no_eos, sample_by=asked.sample_by,
            chat_template=asked.chat_template, date=asked.date, processes=asked.processes,
            overwrite=asked.overwrite, progress=not asked.quiet)
    except ZeroError as error:
        sys.exit(f"zero: error: {error}")
    except KeyboardInterrupt:
        sys.exit("zero: interrupted; the same command continues")
    if not asked.quiet:
        print(_summary(asked.output, manifest, time.monotonic() - begin))
