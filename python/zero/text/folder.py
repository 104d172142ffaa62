"""The tokenizer of a Hugging Face folder, its special tokens and its chat template."""

import dataclasses
import hashlib
import json
from pathlib import Path

from ..errors import BadFileError, InvalidArgumentError, NotFoundError, ZeroError

_SPECIAL = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token",
            "mask_token")


def require(module, package=None):
    """Imports a library that is needed for text only."""
    try:
        return __import__(module)
    except ImportError as error:
        package = package or module
        raise ZeroError(f"tokenizing needs the Python package '{package}' ({error}): "
                        f"pip install {package}") from None


def read_object(path):
    """The object in a JSON file; an empty one if there is no such file."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise BadFileError(f"'{path}' is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadFileError(f"'{path}': expected an object, got {type(value).__name__}")
    return value


def _tokenizer_text(folder):
    """The contents of tokenizer.json, which transformers makes of older files."""
    path = folder / "tokenizer.json"
    if path.exists():
        return path.read_text(encoding="utf-8")
    if not folder.is_dir():
        raise NotFoundError(f"'{folder}' is no folder: expected one with tokenizer.json")
    try:
        from transformers import AutoTokenizer
    except ImportError:
        raise NotFoundError(f"'{folder}' has no tokenizer.json; to convert other files of "
                            f"tokenizers: pip install transformers") from None
    try:
        return AutoTokenizer.from_pretrained(str(folder)).backend_tokenizer.to_str()
    except Exception as error:  # whatever transformers raises for such a folder
        raise BadFileError(f"'{folder}' has no tokenizer.json, and transformers makes none of its "
                           f"files: {error}") from None


def _special_tokens(config, legacy):
    """The texts of special tokens by their names; a token is a text or an AddedToken."""
    found = {}
    for source in (legacy, config):
        for name in _SPECIAL:
            token = source.get(name)
            text = token.get("content") if isinstance(token, dict) else token
            if isinstance(text, str):
                found[name] = text
    return found


def _template_texts(folder, config):
    """Chat templates by their names; a file precedes the configuration."""
    file = folder / "chat_template.jinja"
    given = config.get("chat_template")
    if isinstance(given, str):
        given = {"default": given}
    elif isinstance(given, list):
        given = {each["name"]: each["template"] for each in given}
    else:
        given = {}
    if file.exists():
        given["default"] = file.read_text(encoding="utf-8")
    for extra in sorted((folder / "additional_chat_templates").glob("*.jinja")):
        given[extra.stem] = extra.read_text(encoding="utf-8")
    return given


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


@dataclasses.dataclass
class Folder:
    """What tokenizing needs of a folder, small enough to be sent to each process.

    Attributes: tokenizer, the text of tokenizer.json; special, texts of special tokens by name;
    templates, chat templates by name; adds_bos, whether texts begin with the BOS token (None: as
    tokenizer.json has it); ids, those of "bos", "eos" and "pad", or None; vocabulary, one more than
    the largest id.
    """

    tokenizer: str
    special: dict
    templates: dict
    adds_bos: bool | None
    ids: dict
    vocabulary: int = 0

    def load(self):
        """The tokenizer, which neither cuts nor pads."""
        tokenizer = require("tokenizers").Tokenizer.from_str(self.tokenizer)
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer


def _id_of(tokenizer, special, config, name):
    """The id of a special token: of its text, otherwise of config.json."""
    found = special.get(f"{name}_token") and tokenizer.token_to_id(special[f"{name}_token"])
    if found is None:
        found = config.get(f"{name}_token_id")
        found = found[0] if isinstance(found, list) and found else found
    return found if isinstance(found, int) else None


def open_folder(path, template_file=None):
    """Reads a Folder. template_file: a chat template in place of the folder's."""
    path = Path(path)
    require("tokenizers")
    text = _tokenizer_text(path)
    config = read_object(path / "tokenizer_config.json")
    special = _special_tokens(config, read_object(path / "special_tokens_map.json"))
    templates = _template_texts(path, config)
    if template_file is not None:
        try:
            templates = {"default": Path(template_file).read_text(encoding="utf-8")}
        except OSError as error:
            raise InvalidArgumentError(f"--chat-template: {error}") from None
    folder = Folder(text, special, templates, config.get("add_bos_token"), {})
    try:
        tokenizer = folder.load()
    except ZeroError:
        raise
    except Exception as error:  # the library has no class of its own
        raise BadFileError(f"'{path / 'tokenizer.json'}': {error}") from None
    model = read_object(path / "config.json")
    folder.ids = {name: _id_of(tokenizer, special, model, name) for name in ("bos", "eos", "pad")}
    folder.vocabulary = max(tokenizer.get_vocab(with_added_tokens=True).values(), default=-1) + 1
    return folder
