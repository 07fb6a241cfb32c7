"""Settings: the file, flags on top, and nothing impossible."""

from __future__ import annotations

import pytest

from likewise.errors import SettingsError
from likewise.settings import Settings, read_settings


def test_flags_win_over_the_file_and_the_file_over_the_defaults(tmp_path):
    file = tmp_path / "likewise.toml"
    file.write_text("[proof]\nitems = 99\nseed = 7\n")
    read = read_settings(str(file), {"proof": {"items": 70, "budget": None}})
    assert (read.proof.items, read.proof.seed, read.proof.budget) == (70, 7, "standard")


def test_without_a_file_the_defaults_hold(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert read_settings() == Settings()


@pytest.mark.parametrize(
    "body",
    [
        "[proof]\nitems = -3\n", "[proof]\nitems = 0\n", "[bench]\nseconds = nan\n",
        "[plans]\nbatches = [16, 0]\n", "[proof]\nbudget = 'loose'\n", "[prof]\nitems = 3\n",
        "[proof]\nitms = 3\n", "items = 3\n", "[proof\n", "[model]\nmax_tokens = 0\n",
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused(tmp_path, body):
    file = tmp_path / "likewise.toml"
    file.write_text(body)
    with pytest.raises(SettingsError):
        read_settings(file)


def test_a_settings_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(SettingsError, match="no settings file"):
        read_settings(tmp_path / "nowhere.toml")
