"""What a folder says of its tokenizer in; the special tokens that go with it, out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.errors import FolderError
from likewise.model.files import optional_json
from likewise.model.recipes import Recipe, find_recipe

if TYPE_CHECKING:
    from tokenizers import AddedToken, Tokenizer

__all__ = [
    "ROLES",
    "Place",
    "added_tokens",
    "listed_tokens",
    "named_tokens",
    "special_tokens",
    "unknown_token",
]

ROLES = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")


@dataclass(frozen=True)
class Place:
    """What the folder says of its tokenizer."""

    file: Path
    stated: Mapping[str, Any]  # tokenizer_config.json
    config: Mapping[str, Any]  # config.json
    name: str  # the tokenizer class
    named: bool  # by the folder itself
    lower_case: bool | None

    @property
    def recipe(self) -> Recipe | None:
        """The rules of its class; None where ``tokenizer.json`` alone gives them."""
        return find_recipe(self.name)


def unknown_token(place: Place) -> str:
    """Return the token for what the vocabulary does not know, as the folder or its class says."""
    stated = place.stated.get("unk_token")
    content = stated.get("content") if isinstance(stated, dict) else stated
    recipe = place.recipe
    return str(content or (recipe.specials["unk"] if recipe else "[UNK]"))


def named_tokens(place: Place) -> dict[str, str]:
    """Return the special tokens by role, as the folder or else the class names them."""
    found = dict(place.recipe.specials) if place.recipe else {}
    named = {**place.stated, **optional_json(place.file.parent / "special_tokens_map.json")}
    for role in ROLES:
        value = named.get(f"{role}_token")
        content = value.get("content") if isinstance(value, dict) else value
        if isinstance(content, str):
            found[role] = content
    return found


def special_tokens(place: Place, recipe: Recipe, filed: Tokenizer) -> dict[str, AddedToken]:
    """Return every special token, with the spaces it swallows, by role or by its own text."""
    values: dict[str, Any] = {role: recipe.specials.get(role) for role in ROLES}
    values |= {
        role: place.stated[f"{role}_token"] for role in ROLES if f"{role}_token" in place.stated
    }
    more = place.stated.get("extra_special_tokens") or place.stated.get("additional_special_tokens")
    if "added_tokens_decoder" not in place.stated:
        legacy = optional_json(place.file.parent / "special_tokens_map.json")
        values |= {role: legacy[f"{role}_token"] for role in ROLES if f"{role}_token" in legacy}
        more = legacy.get("additional_special_tokens") or more
    known = {token.content: token for token in listed_tokens(place, filed).values()}
    found = {}
    for role, value in values.items():
        if value is not None:
            greedy = recipe.greedy_mask and role == "mask"
            found[role] = known.get(_content(value)) or _token(value, lstrip=greedy)
    named = list(more.values()) if isinstance(more, dict) else more
    for value in named if isinstance(named, list) else recipe.more:
        found[_content(value)] = known.get(_content(value)) or _token(value)
    return found


def _content(value: Any) -> str:
    content = value.get("content") if isinstance(value, dict) else value
    if not isinstance(content, str):
        raise FolderError(
            "tokenizer_config.json has a special token that is not a text.",
            found=f"{value!r}"[:200],
            fix="take the tokenizer's files from the same version of the model as its weights",
        )
    return content


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


def listed_tokens(place: Place, filed: Tokenizer) -> dict[int, AddedToken]:
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


def added_tokens(
    place: Place, filed: Tokenizer, specials: Mapping[str, AddedToken]
) -> list[AddedToken]:
    """Return the tokens to add, in the order in which new ones get their ids."""
    named = {str(token.content) for token in specials.values()}
    found: dict[str, AddedToken] = {}
    for _, token in sorted(listed_tokens(place, filed).items()):
        token.special = token.special or token.content in named
        found.setdefault(token.content, token)
    for token in specials.values():
        found.setdefault(token.content, token)
    return list(found.values())
