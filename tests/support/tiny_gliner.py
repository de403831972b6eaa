"""A GLiNER2 model of random weights, made on the spot and saved by the library itself, so that its real loading code has something to load."""

from __future__ import annotations

import string
from pathlib import Path
from typing import Any

import torch
from gliner2 import AutoExtractor, ExtractorConfig
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

_WORDS = [
    "Ada",
    "Lovelace",
    "joined",
    "Acme",
    "Corp",
    "in",
    "Berlin",
    ".",
    "I",
    "live",
    "in",
    "Porto",
    "with",
    "my",
    "dog",
    "Rex",
    "entity",
    "person",
    "company",
    "relation",
    "head",
    "tail",
    "(",
    ")",
    ",",
    ":",
    "|",
]
_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def make(folder: Path, architecture: str, **sizes: int) -> Path:
    """A model folder; `sizes` are of the encoder (`hidden_size`, `num_hidden_layers`, …)."""
    encoder = folder / "encoder"
    shape = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64, **sizes}
    tokenizer = _tokenizer(encoder)
    torch.manual_seed(0)
    BertModel(BertConfig(vocab_size=len(tokenizer), max_position_embeddings=2048, **shape)).save_pretrained(encoder)
    model = AutoExtractor.from_config(ExtractorConfig(model_name=str(encoder), architecture=architecture, max_len=256))
    model.eval()
    model.save_pretrained(str(folder / "model"))
    return folder / "model"


def _tokenizer(folder: Path) -> Any:
    # Not trained, since training orders equal pieces by chance.
    pieces = dict.fromkeys([*_SPECIAL, *_WORDS, *string.ascii_letters, *(f"##{letter}" for letter in string.ascii_letters + string.digits)])
    made = Tokenizer(models.WordPiece({piece: number for number, piece in enumerate(pieces)}, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=False)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ends = [(name, made.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    made.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ends)
    names = {f"{name.strip('[]').lower()}_token": name for name in _SPECIAL}
    wrapped = PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=512, **names)
    wrapped.save_pretrained(str(folder))
    return wrapped
