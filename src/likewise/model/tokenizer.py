"""A Model in; its tokenizer, built with the ``tokenizers`` package alone, out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from likewise.errors import FolderError, SettingsError
from likewise.model.files import optional_json, show
from likewise.model.modules import is_sentence_transformer, read_modules
from likewise.model.recipes import read_head, tokenizer_class
from likewise.model.rules import add_lowering, decoder, frame, rules
from likewise.model.specials import (
    ROLES,
    Place,
    added_tokens,
    listed_tokens,
    named_tokens,
    special_tokens,
    unknown_token,
)
from likewise.model.vocabularies import open_file, open_pieces

if TYPE_CHECKING:
    from tokenizers import AddedToken, Tokenizer

    from likewise.types import Model

__all__ = ["Vocabulary", "open_tokenizer"]


@dataclass(frozen=True)
class Vocabulary:
    """A tokenizer that neither cuts nor pads, and the ids that tasks ask for."""

    tokenizer: Tokenizer  # shared by threads: never change it (case B013)
    pad_id: int
    pad_token: str
    unk_token: str  # "" where every text can be spelt
    mask_token: str | None
    mask_id: int | None
    size: int  # largest id + 1
    assumptions: tuple[str, ...] = ()
    cut_left: bool = False  # truncation takes the beginning away, as the folder says


def open_tokenizer(model: Model) -> Vocabulary:
    """Build the tokenizer that transformers builds from the same folder: every id is the same.

    Truncation and padding saved in ``tokenizer.json`` are cleared (case B011).

    Raises:
        FolderError: the files are missing or damaged, need a package that is not here, or give
            ids that the embedding table does not have (case B018).
        SettingsError: a casing is stated that this kind of tokenizer cannot be given.
    """
    if not model.tokenizer:
        raise FolderError(f"{model.folder} has no tokenizer.", fix="text tasks need one")
    place = _place(model)
    if place.file.suffix == ".model":
        built, specials, direction = open_pieces(place.file), named_tokens(place), ""
    else:
        built, specials, direction = _build(place)
    built.no_truncation()
    built.no_padding()
    if is_sentence_transformer(model.folder) and read_modules(model.folder).lower_case:
        add_lowering(built)
    ids = built.get_vocab(with_added_tokens=True)
    size = max(ids.values(), default=-1) + 1
    _check_size(model, built, size)
    _check_unknown(place, built, ids)
    mask = specials.get("mask")
    pad = specials.get("pad", "")
    return Vocabulary(
        tokenizer=built,
        pad_id=ids[pad] if pad in ids else int(place.config.get("pad_token_id") or 0),
        pad_token=pad,
        unk_token=specials.get("unk", ""),
        mask_token=mask if mask in ids else None,
        mask_id=ids.get(mask) if mask is not None else None,
        size=size,
        assumptions=(
            *_assumptions(place, built),
            *_contradictions(place, ids, pad),
            *_spare(model, size),
        ),
        cut_left=_side(place, direction) == "left",
    )


def _place(model: Model) -> Place:
    file = model.folder / model.tokenizer
    stated = optional_json(file.parent / "tokenizer_config.json")
    core = model.folder
    if is_sentence_transformer(core):
        core /= read_modules(core).core
    config = optional_json(core / "config.json")
    name, named = tokenizer_class(stated, config, model.family)
    return Place(file, stated, config, name, named, model.lower_case)


def _side(place: Place, direction: str) -> str:
    """Return the side that truncation takes away: as stated, else as saved in tokenizer.json."""
    side = place.stated.get("truncation_side") or direction.lower() or "right"
    if side not in ("left", "right") or place.stated.get("split_special_tokens"):
        raise FolderError(
            f"{place.file.parent / 'tokenizer_config.json'} has a setting that is not followed.",
            found=f"truncation_side {side!r}"
            if side not in ("left", "right")
            else "split_special_tokens",
            fix="truncation_side: left or right; split_special_tokens: false",
        )
    return str(side)


def _build(place: Place) -> tuple[Tokenizer, dict[str, str], str]:
    """Return the tokenizer, its special tokens by role, and the direction of saved truncation."""
    from tokenizers import Tokenizer

    filed = open_file(place.file, unknown=unknown_token(place))
    direction = str((filed.truncation or {}).get("direction", ""))
    recipe = place.recipe
    if recipe is None or type(filed.model).__name__ != recipe.model:
        _check_as_filed(place)
        if place.lower_case is False and read_head(place.file)[0]:
            raise _no_casing(place, "tokenizer.json lower-cases by itself")
        if place.lower_case is True:
            add_lowering(filed)
        return filed, named_tokens(place), direction
    if recipe.lower_case is None and place.lower_case is not None:
        raise _no_casing(place, f"{place.name} keeps every text as it is")
    if recipe.model == "WordPiece":
        filed.model.unk_token = unknown_token(place)
    built = Tokenizer(filed.model)
    flags = dict(place.stated)
    if place.lower_case is not None:
        flags["do_lower_case"] = place.lower_case
    built.normalizer, built.pre_tokenizer = rules(recipe, flags, filed)
    built.decoder = decoder(recipe, flags)
    specials = special_tokens(place, recipe, filed)
    framing = (
        ("cls", "sep", "pad") if place.config.get("pad_token_id") is not None else ("cls", "sep")
    )
    _check_whole(place, filed, [specials[role] for role in framing if role in specials])
    built.add_tokens(added_tokens(place, filed, specials))
    names = {role: str(token) for role, token in specials.items() if role in ROLES}
    built.post_processor = frame(recipe, built, names, flags, filed)
    return built, names, direction


def _no_casing(place: Place, found: str) -> SettingsError:
    return SettingsError(
        f"The casing that is stated cannot be given to {place.file}.",
        found=found,
        fix="leave out --lower-case and --cased",
    )


def _check_as_filed(place: Place) -> None:
    """Without rules of our own, only tokenizer.json says all that there is to say."""
    if place.file.name != "tokenizer.json":
        raise FolderError(
            f"{place.file} needs rules that likewise does not have.",
            found=f"tokenizer class {place.name or 'not said'}",
            fix="save the tokenizer as tokenizer.json: "
            "AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER)",
        )


def _check_size(model: Model, built: Tokenizer, size: int) -> None:
    beyond: Iterable[int] = range(model.vocabulary, size)
    names = [repr(built.id_to_token(index)) for index in beyond if built.id_to_token(index)]
    if size > model.vocabulary:
        raise FolderError(
            "The tokenizer has more ids than the model has embedding rows.",
            found=f"{size} ids, {model.vocabulary} rows; beyond them: {show(names)}",
            fix=f"take {model.tokenizer} from the same version of the model as its weights",
        )


def _check_unknown(place: Place, built: Tokenizer, ids: Mapping[str, int]) -> None:
    """Refuse a vocabulary of whole pieces that has no token for what it does not know."""
    unknown = getattr(built.model, "unk_token", None)
    if type(built.model).__name__ == "WordPiece" and unknown not in ids:
        raise FolderError(
            f"{place.file} has no token for what it does not know.",
            found=f"{unknown!r} is not in the vocabulary",
            fix="take the tokenizer from the same version of the model as its weights",
        )


def _check_whole(place: Place, filed: Tokenizer, added: Iterable[AddedToken]) -> None:
    """Refuse a list of words that lost a line: every token behind it would have a neighbour's id.

    Such files number their words by line. One without the tokens that stand around every text, or
    without the padding token whose id the config states, is not the one that was trained with.
    """
    if place.file.name != "vocab.txt":
        return
    stated = place.config.get("pad_token_id")
    there = {token.content for token in listed_tokens(place, filed).values()}
    for token in added:
        text = str(token)
        if filed.token_to_id(text) is None and text not in there:
            beside = f"; {filed.id_to_token(stated)!r} is id {stated}" if stated is not None else ""
            raise FolderError(
                f"{place.file} has no {text!r}, so its lines are not those of the model.",
                found=f"{filed.get_vocab_size()} lines{beside}",
                fix="take vocab.txt from the same version of the model as its weights",
            )


def _contradictions(place: Place, ids: Mapping[str, int], pad: str) -> list[str]:
    stated = place.config.get("pad_token_id")
    if type(stated) is not int or pad not in ids or ids[pad] == stated:
        return []
    return [
        f"config.json says pad_token_id {stated}, and {pad!r} of the tokenizer is {ids[pad]}: "
        f"{ids[pad]} is used"
    ]


def _spare(model: Model, size: int) -> tuple[str, ...]:
    """Say so where the embedding table is longer than the vocabulary: it may have been cut."""
    if size == 0 or size >= model.vocabulary:
        return ()
    return (
        f"{model.vocabulary - size} of {model.vocabulary} embedding rows have no token: usual "
        "where the table is padded, wrong where the vocabulary is not whole",
    )


def _assumptions(place: Place, built: Tokenizer) -> tuple[str, ...]:
    found = []
    kind = type(built.model).__name__
    if place.recipe is None:
        found.append("tokenizer.json is used as it stands")
    elif kind != place.recipe.model:
        found.append(
            f"{place.name} builds {place.recipe.model} vocabularies and {place.file.name} holds "
            f"{kind}: the file is used as it stands"
        )
    if not place.stated:
        found.append("no tokenizer_config.json: the family's special tokens are assumed")
    return tuple(found)
