import pytest

import tiny as builders

NAMES = [name for name in builders.__all__ if name not in ("redraw", "write_json")]


@pytest.mark.parametrize("name", NAMES)
def test_every_builder_writes_a_config_and_weights_once(tiny, name):
    folder = tiny(name)
    assert (folder / "config.json").is_file()
    assert (folder / "model.safetensors").stat().st_size > 0
    assert tiny(name) == folder
