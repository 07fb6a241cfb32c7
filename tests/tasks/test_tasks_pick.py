"""A folder's facts point at one task, or an error says which to name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from likewise.errors import TaskError
from likewise.model.read import read
from likewise.tasks._pick import claims, pick

Tiny = Callable[[str], Path]

CLAIMS = {
    "bert_classifier": "classify",
    "roberta_classifier": "classify",
    "electra_classifier": "classify",
    "bert_encoder": "embed",
    "sentence_transformer": "embed",
    "bert_fillmask": "fillmask",
    "xlmr_fillmask": "fillmask",
    "distilbert_fillmask": "fillmask",
    "timm_classifier": "image_classify",
    "timm_features": "image_embed",
    "timm_tower": "image_embed",
}


@pytest.mark.parametrize(("folder", "name"), CLAIMS.items(), ids=list(CLAIMS))
def test_every_shape_of_folder_has_one_task(tiny: Tiny, folder: Path, name: str) -> None:
    model = read(tiny(folder))
    assert claims(model) == [name]
    task = pick(model)
    assert task.name == name
    assert pick(model, name).name == name


def test_two_claims_are_an_error_that_names_both(tiny: Tiny) -> None:
    model = replace(read(tiny("bert_classifier")), trained_heads=("classes", "tokens"))
    with pytest.raises(TaskError) as caught:
        pick(model)
    assert caught.value.found == "classify, fillmask"
    assert caught.value.fix == "--task classify or --task fillmask"
    assert pick(model, "fillmask").name == "fillmask"


def test_B024_a_head_that_the_config_promises_and_the_weights_lack_is_not_taken_for_an_encoder(
    tiny: Tiny,
) -> None:
    model = replace(read(tiny("bert_classifier")), trained_heads=())
    with pytest.raises(TaskError, match="No task claims") as caught:
        pick(model)
    assert "BertForSequenceClassification" in caught.value.found
    assert "--task embed" in caught.value.fix
    assert pick(model, "embed").name == "embed"


def test_B079_classes_without_a_trained_head_are_not_taken_for_features(tiny: Tiny) -> None:
    model = replace(read(tiny("timm_classifier")), trained_heads=())
    with pytest.raises(TaskError, match="No task claims") as caught:
        pick(model)
    assert "--task image_embed" in caught.value.fix
    assert pick(model, "image_embed").name == "image_embed"


def test_a_task_that_cannot_serve_says_what_the_folder_can_do(tiny: Tiny) -> None:
    with pytest.raises(TaskError) as caught:
        pick(read(tiny("timm_tower")), "image_classify")
    assert caught.value.found == "a projection into vectors"
    assert caught.value.fix == "this folder can do --task image_embed"
    with pytest.raises(TaskError) as caught:
        pick(read(tiny("bert_encoder")), "fillmask")
    assert caught.value.fix == "this folder can do --task embed"


def test_an_unknown_task_lists_those_there_are(tiny: Tiny) -> None:
    with pytest.raises(TaskError, match="'translate' is not a task") as caught:
        pick(read(tiny("bert_encoder")), "translate")
    assert "image_classify" in caught.value.fix


def test_a_masked_language_model_can_embed_when_asked(tiny: Tiny) -> None:
    task = pick(read(tiny("bert_fillmask")), "embed")
    assert task.network.outputs == ("last_hidden_state",)
