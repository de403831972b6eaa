"""What the environment leaves unsaid has a value that can be used."""

from __future__ import annotations

from pathlib import Path

from lean_memory.settings import read_settings


def test_an_empty_environment_gives_the_usual_places_as_text() -> None:
    settings = read_settings("data", environ={})
    assert settings.root == Path("data").absolute()
    assert settings.ollama_host == "http://127.0.0.1:11434"
    assert settings.models_endpoint == "https://huggingface.co"
    assert settings.models_manifest is None


def test_what_the_environment_says_is_taken(tmp_path: Path) -> None:
    settings = read_settings(
        environ={
            "LM_DATA_ROOT": str(tmp_path),
            "LM_OLLAMA_HOST": "http://localhost:1",
            "LM_MODELS_ENDPOINT": "http://mirror.test",
            "LM_MODELS_MANIFEST": str(tmp_path / "models.toml"),
        }
    )
    assert (settings.root, settings.ollama_host, settings.models_endpoint) == (tmp_path, "http://localhost:1", "http://mirror.test")
    assert settings.models_manifest == tmp_path / "models.toml"
