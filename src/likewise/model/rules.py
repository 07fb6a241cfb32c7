"""A recipe and the folder's flags in; the parts of a tokenizer around its vocabulary, out."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from likewise.errors import FolderError

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from tokenizers.decoders import Decoder
    from tokenizers.normalizers import Normalizer
    from tokenizers.pre_tokenizers import PreTokenizer
    from tokenizers.processors import PostProcessor

    from likewise.model.recipes import Recipe

__all__ = ["add_lowering", "decoder", "frame", "rules"]


def rules(
    recipe: Recipe, flags: Mapping[str, Any], filed: Tokenizer
) -> tuple[Normalizer | None, PreTokenizer]:
    """Return what happens to a text before the vocabulary sees it.

    Args:
        recipe: the tokenizer class.
        flags: do_lower_case, strip_accents, tokenize_chinese_chars, add_prefix_space …
        filed: the tokenizer as its file has it; gives the sentencepiece character map.
    """
    from tokenizers import normalizers, pre_tokenizers

    accents = flags.get("strip_accents")
    if recipe.rules == "bert":
        return (
            normalizers.BertNormalizer(
                clean_text=True,
                handle_chinese_chars=bool(flags.get("tokenize_chinese_chars", True)),
                strip_accents=None if accents is None else bool(accents),
                lowercase=bool(flags.get("do_lower_case", recipe.lower_case)),
            ),
            pre_tokenizers.BertPreTokenizer(),
        )
    if recipe.rules == "bytes":
        space = bool(flags.get("add_prefix_space", False))
        return None, pre_tokenizers.ByteLevel(add_prefix_space=space)
    steps = {"pieces": _pieces, "albert": _albert, "deberta-v2": _deberta}[recipe.rules](
        flags, _character_map(filed)
    )
    normalizer = normalizers.Sequence(steps) if len(steps) != 1 else steps[0]
    return (normalizer if steps else None), _spaces(recipe, flags)


def _pieces(flags: Mapping[str, Any], characters: bytes | None) -> list[Normalizer]:
    from tokenizers import normalizers

    del flags
    return [normalizers.Precompiled(characters)] if characters is not None else []


def _albert(flags: Mapping[str, Any], characters: bytes | None) -> list[Normalizer]:
    from tokenizers import normalizers

    steps: list[Normalizer] = [normalizers.Replace("``", '"'), normalizers.Replace("''", '"')]
    if not flags.get("keep_accents", False):
        steps += [normalizers.NFKD(), normalizers.StripAccents()]
    if flags.get("do_lower_case", True):
        steps.append(normalizers.Lowercase())
    return [*steps, *_pieces(flags, characters)]


def _deberta(flags: Mapping[str, Any], characters: bytes | None) -> list[Normalizer]:
    from tokenizers import Regex, normalizers

    del characters  # its class leaves the map out
    steps: list[Normalizer] = [normalizers.Lowercase()] if flags.get("do_lower_case", False) else []
    return [
        *steps,
        normalizers.Replace(Regex(r"\s{2,}|[\n\r\t]"), " "),
        normalizers.NFC(),
        normalizers.Strip(left=False, right=True),
    ]


def _spaces(recipe: Recipe, flags: Mapping[str, Any]) -> PreTokenizer:
    from tokenizers import pre_tokenizers

    first: list[PreTokenizer] = []
    if recipe.rules != "deberta-v2":
        first.append(pre_tokenizers.WhitespaceSplit())
    elif flags.get("split_by_punct"):
        first.append(pre_tokenizers.Punctuation("isolated"))
    metaspace = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme=_scheme(recipe, flags))
    return pre_tokenizers.Sequence([*first, metaspace])


def _scheme(recipe: Recipe, flags: Mapping[str, Any]) -> str:
    if flags.get("add_prefix_space", True):
        return "always"
    return "first" if recipe.rules == "deberta-v2" else "never"


def decoder(recipe: Recipe, flags: Mapping[str, Any]) -> Decoder:
    """Return what makes a text of tokens again."""
    from tokenizers import decoders

    if recipe.rules == "bert":
        return decoders.WordPiece(prefix="##")
    if recipe.rules == "bytes":
        return decoders.ByteLevel()
    return decoders.Metaspace(replacement="▁", prepend_scheme=_scheme(recipe, flags))


def frame(
    recipe: Recipe,
    built: Tokenizer,
    names: Mapping[str, str],
    flags: Mapping[str, Any],
    filed: Tokenizer,
) -> PostProcessor:
    """Return what puts the special tokens around a text."""
    from tokenizers import processors

    own: PostProcessor | None = filed.post_processor
    if recipe.frame == "file" and own is not None:
        return own
    double = recipe.frame == "double" and recipe.rules == "pieces"
    roles = ("bos", "eos") if double else ("cls", "sep")
    ends = [(names.get(role, ""), _id(built, names.get(role, ""), role)) for role in roles]
    first, last = (token for token, _ in ends)
    if recipe.frame == "roberta":
        words = recipe.rules == "bert"
        trim = True if words else bool(flags.get("trim_offsets", True))
        space = False if words else bool(flags.get("add_prefix_space", False))
        return processors.RobertaProcessing(ends[1], ends[0], trim, space)
    two, single = f"{first} $A {last} {last} $B {last}", f"{first} $A {last}"
    pair = two if recipe.frame == "double" else f"{first}:0 $A:0 {last}:0 $B:1 {last}:1"
    return processors.TemplateProcessing(single=single, pair=pair, special_tokens=ends)


def _id(built: Tokenizer, token: str, role: str) -> int:
    found = built.token_to_id(token)
    if found is None:
        raise FolderError(
            f"The tokenizer has no {role} token.",
            found=repr(token),
            fix=f"name it in tokenizer_config.json: {role}_token",
        )
    return int(found)


def add_lowering(tokenizer: Tokenizer) -> None:
    """Lower-case every text first, unless the tokenizer does so already."""
    from tokenizers import normalizers

    before = tokenizer.normalizer
    if before is not None and '"Lowercase"' in _written(before):
        return
    if before is not None and '"lowercase":true' in _written(before):
        return
    rest = [] if before is None else [before]
    tokenizer.normalizer = normalizers.Sequence([normalizers.Lowercase(), *rest])


def _written(part: Any) -> str:
    state = part.__getstate__()
    return state.decode() if isinstance(state, bytes) else str(state)


def _character_map(filed: Tokenizer) -> bytes | None:
    if filed.normalizer is None:
        return None
    stated = json.loads(_written(filed.normalizer))
    for part in stated.get("normalizers", [stated]):
        if part.get("type") == "Precompiled":
            return base64.b64decode(part["precompiled_charsmap"])
    return None
