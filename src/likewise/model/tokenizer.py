"""A Model in; its tokenizer, built with the ``tokenizers`` package alone, out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.errors import FolderError
from likewise.model.files import optional_json, show
from likewise.model.modules import is_sentence_transformer, read_modules
from likewise.model.recipes import Recipe, find_recipe, tokenizer_class
from likewise.model.rules import add_lowering, decoder, frame, rules
from likewise.model.vocabularies import open_file, open_pieces

if TYPE_CHECKING:
    from tokenizers import AddedToken, Tokenizer

    from likewise.types import Model

__all__ = ["Vocabulary", "open_tokenizer"]

_ROLES = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")


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


@dataclass(frozen=True)
class _Place:
    """What the folder says of its tokenizer."""

    file: Path
    stated: Mapping[str, Any]  # tokenizer_config.json
    config: Mapping[str, Any]  # config.json
    name: str  # the tokenizer class
    named: bool  # by the folder itself
    lower_case: bool | None

    @property
    def recipe(self) -> Recipe | None:
        return find_recipe(self.name)


def open_tokenizer(model: Model) -> Vocabulary:
    """Build the tokenizer that transformers builds from the same folder: every id is the same.

    Truncation and padding saved in ``tokenizer.json`` are cleared (case B011).

    Raises:
        FolderError: the files are missing or damaged, need a package that is not here, or give
            ids that the embedding table does not have (case B018).
    """
    if not model.tokenizer:
        raise FolderError(f"{model.folder} has no tokenizer.", fix="text tasks need one")
    place = _place(model)
    if place.file.suffix == ".model":
        built, specials = open_pieces(place.file), _named(place)
    else:
        built, specials = _build(place)
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
        assumptions=(*_assumptions(place), *_spare(model, size)),
        cut_left=place.stated.get("truncation_side") == "left",
    )


def _place(model: Model) -> _Place:
    file = model.folder / model.tokenizer
    stated = optional_json(file.parent / "tokenizer_config.json")
    core = model.folder
    if is_sentence_transformer(core):
        core /= read_modules(core).core
    config = optional_json(core / "config.json")
    name, named = tokenizer_class(stated, config, model.family)
    return _Place(file, stated, config, name, named, model.lower_case)


def _build(place: _Place) -> tuple[Tokenizer, dict[str, str]]:
    from tokenizers import Tokenizer

    filed = open_file(place.file, unknown=_unknown(place))
    recipe = place.recipe
    if recipe is None or type(filed.model).__name__ != recipe.model:
        _check_as_filed(place)
        if place.lower_case is True:
            add_lowering(filed)
        return filed, _named(place)
    built = Tokenizer(filed.model)
    flags = dict(place.stated)
    if place.lower_case is not None:
        flags["do_lower_case"] = place.lower_case
    built.normalizer, built.pre_tokenizer = rules(recipe, flags, filed)
    built.decoder = decoder(recipe, flags)
    specials = _specials(place, recipe, filed)
    built.add_tokens(_added(place, filed, specials))
    names = {role: str(token) for role, token in specials.items() if role in _ROLES}
    built.post_processor = frame(recipe, built, names, flags, filed)
    return built, names


def _check_as_filed(place: _Place) -> None:
    """Without rules of our own, only tokenizer.json says all that there is to say."""
    if place.file.name != "tokenizer.json":
        raise FolderError(
            f"{place.file} needs rules that likewise does not have.",
            found=f"tokenizer class {place.name or 'not said'}",
            fix="save the tokenizer as tokenizer.json: "
            "AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER)",
        )


def _unknown(place: _Place) -> str:
    stated = place.stated.get("unk_token")
    content = stated.get("content") if isinstance(stated, dict) else stated
    recipe = place.recipe
    return str(content or (recipe.specials["unk"] if recipe else "[UNK]"))


def _named(place: _Place) -> dict[str, str]:
    """Return the special tokens by role, as the folder or else the class names them."""
    found = dict(place.recipe.specials) if place.recipe else {}
    named = {**place.stated, **optional_json(place.file.parent / "special_tokens_map.json")}
    for role in _ROLES:
        value = named.get(f"{role}_token")
        content = value.get("content") if isinstance(value, dict) else value
        if isinstance(content, str):
            found[role] = content
    return found


def _specials(place: _Place, recipe: Recipe, filed: Tokenizer) -> dict[str, AddedToken]:
    """Return every special token, with the spaces it swallows, by role or by its own text."""
    values: dict[str, Any] = {role: recipe.specials.get(role) for role in _ROLES}
    values |= {
        role: place.stated[f"{role}_token"] for role in _ROLES if f"{role}_token" in place.stated
    }
    more = place.stated.get("extra_special_tokens") or place.stated.get("additional_special_tokens")
    if "added_tokens_decoder" not in place.stated:
        legacy = optional_json(place.file.parent / "special_tokens_map.json")
        values |= {role: legacy[f"{role}_token"] for role in _ROLES if f"{role}_token" in legacy}
        more = legacy.get("additional_special_tokens") or more
    known = {token.content: token for token in _listed(place, filed).values()}
    found = {}
    for role, value in values.items():
        if value is not None:
            greedy = recipe.greedy_mask and role == "mask"
            found[role] = known.get(_content(value)) or _token(value, lstrip=greedy)
    for value in more if isinstance(more, list) else recipe.more:
        found[_content(value)] = known.get(_content(value)) or _token(value)
    return found


def _content(value: Any) -> str:
    return str(value.get("content") if isinstance(value, dict) else value)


def _token(value: Any, *, lstrip: bool = False) -> AddedToken:
    from tokenizers import AddedToken

    flags = value if isinstance(value, dict) else {}
    return AddedToken(
        _content(value),
        single_word=bool(flags.get("single_word")),
        lstrip=bool(flags.get("lstrip", lstrip)),
        rstrip=bool(flags.get("rstrip")),
        normalized=bool(flags.get("normalized", False)),
        special=True,
    )


def _listed(place: _Place, filed: Tokenizer) -> dict[int, AddedToken]:
    """Return the added tokens that the folder lists, by id."""
    from tokenizers import AddedToken

    listed = place.stated.get("added_tokens_decoder")
    if isinstance(listed, dict):
        return {int(i): AddedToken(**_flags(token)) for i, token in listed.items()}
    legacy = optional_json(place.file.parent / "added_tokens.json")
    found = {int(i): AddedToken(text, normalized=True) for text, i in legacy.items()}
    return found | (filed.get_added_tokens_decoder() if place.file.name == "tokenizer.json" else {})


def _flags(token: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in token.items() if key != "__type"}


def _added(place: _Place, filed: Tokenizer, specials: Mapping[str, AddedToken]) -> list[AddedToken]:
    """Return the tokens to add, in the order in which new ones get their ids."""
    named = {str(token.content) for token in specials.values()}
    found: dict[str, AddedToken] = {}
    for _, token in sorted(_listed(place, filed).items()):
        token.special = token.special or token.content in named
        found.setdefault(token.content, token)
    for token in specials.values():
        found.setdefault(token.content, token)
    return list(found.values())


def _check_size(model: Model, built: Tokenizer, size: int) -> None:
    beyond: Iterable[int] = range(model.vocabulary, size)
    names = [repr(built.id_to_token(index)) for index in beyond if built.id_to_token(index)]
    if size > model.vocabulary:
        raise FolderError(
            "The tokenizer has more ids than the model has embedding rows.",
            found=f"{size} ids, {model.vocabulary} rows; beyond them: {show(names)}",
            fix=f"take {model.tokenizer} from the same version of the model as its weights",
        )


def _check_unknown(place: _Place, built: Tokenizer, ids: Mapping[str, int]) -> None:
    """Refuse a vocabulary of whole pieces that has no token for what it does not know."""
    unknown = getattr(built.model, "unk_token", None)
    if type(built.model).__name__ == "WordPiece" and unknown not in ids:
        raise FolderError(
            f"{place.file} has no token for what it does not know.",
            found=f"{unknown!r} is not in the vocabulary",
            fix="take the tokenizer from the same version of the model as its weights",
        )


def _spare(model: Model, size: int) -> tuple[str, ...]:
    """Say so where the embedding table is longer than the vocabulary: it may have been cut."""
    if size == 0 or size >= model.vocabulary:
        return ()
    return (
        f"{model.vocabulary - size} of {model.vocabulary} embedding rows have no token: usual "
        "where the table is padded, wrong where the vocabulary is not whole",
    )


def _assumptions(place: _Place) -> tuple[str, ...]:
    found = []
    if place.recipe is None:
        found.append("tokenizer.json is used as it stands")
    if not place.stated:
        found.append("no tokenizer_config.json: the family's special tokens are assumed")
    return tuple(found)
