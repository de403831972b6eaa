"""Models of random weights for sentence-transformers, made on the spot and saved by the libraries themselves, so that their real loading code has something to load."""

from __future__ import annotations

import string
from pathlib import Path
from typing import Any, Literal

import torch
from sentence_transformers import CrossEncoder, SentenceTransformer
from sentence_transformers.base.modules import Dense, Transformer
from sentence_transformers.sentence_transformer.modules import LayerNorm, Normalize, Pooling
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import (
    ModernBertConfig,
    ModernBertForSequenceClassification,
    ModernBertModel,
    PreTrainedTokenizerFast,
    Qwen3Config,
    Qwen3Model,
)

from lean_memory.models.manifest import ModelFile, ModelSpec, Role

END = "<|endoftext|>"
_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def make_embedder(folder: Path, *, width: int = 64, dtype: torch.dtype = torch.float32) -> Path:
    """An embedder of the kind of Qwen3: the last token, which the tokenizer adds, stands for the text; padding is on the left."""
    base = folder / "base"
    tokenizer = _bytes_tokenizer(base)
    torch.manual_seed(0)
    shape = {"hidden_size": width, "intermediate_size": 2 * width, "num_hidden_layers": 2, "num_attention_heads": 4, "head_dim": 16}
    ends = {"eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id}
    config = Qwen3Config(
        vocab_size=len(tokenizer), num_key_value_heads=2, max_position_embeddings=512, tie_word_embeddings=True, **shape, **ends
    )
    Qwen3Model(config).to(dtype).save_pretrained(base)
    modules = [Transformer(str(base)), Pooling(width, pooling_mode="lasttoken"), Normalize()]
    SentenceTransformer(modules=modules, device="cpu").save_pretrained(str(folder / "embedder"))
    return folder / "embedder"


def make_reranker(folder: Path, *, form: Literal["one", "modules"] = "modules") -> Path:
    """A cross-encoder of the kind of ModernBERT: one number for a pair of texts.

    Its head is part of the network, or in modules of its own, as that of the Ettin rerankers is.
    """
    target = folder / "reranker"
    base = target if form == "one" else folder / "encoder"
    tokenizer = _pieces_tokenizer(base)
    torch.manual_seed(0)
    config = ModernBertConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=3,
        num_attention_heads=4,
        max_position_embeddings=512,
        local_attention=64,
        global_attn_every_n_layers=3,
        num_labels=1,
        classifier_pooling="mean",
        pad_token_id=tokenizer.pad_token_id,
        cls_token_id=tokenizer.cls_token_id,
        sep_token_id=tokenizer.sep_token_id,
        bos_token_id=tokenizer.cls_token_id,
        eos_token_id=tokenizer.sep_token_id,
    )
    if form == "one":
        ModernBertForSequenceClassification(config).save_pretrained(target)
        return target
    ModernBertModel(config).save_pretrained(base)
    head = [Dense(64, 64, activation_function=torch.nn.GELU()), LayerNorm(64)]
    last = Dense(64, 1, activation_function=torch.nn.Identity(), module_output_name="scores")
    modules = [Transformer(str(base)), Pooling(64, pooling_mode="mean"), *head, last]
    CrossEncoder(modules=modules, device="cpu").save_pretrained(str(target))
    return target


def _bytes_tokenizer(folder: Path) -> Any:
    # Not trained, since training orders equal pieces by chance: every byte is a token of its own.
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE({END: 0, **{letter: number for number, letter in enumerate(alphabet, start=1)}}, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.post_processor = processors.TemplateProcessing(single=f"$A {END}", pair=f"$A $B {END}", special_tokens=[(END, 0)])
    return _saved(made, folder, eos_token=END, pad_token=END, padding_side="left")


def _pieces_tokenizer(folder: Path) -> Any:
    letters = string.ascii_letters + string.digits
    pieces = dict.fromkeys([*_SPECIAL, *string.punctuation, *letters, *(f"##{letter}" for letter in letters)])
    made = Tokenizer(models.WordPiece({piece: number for number, piece in enumerate(pieces)}, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=False)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ends = [(name, made.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    made.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ends)
    return _saved(made, folder, **{f"{name.strip('[]').lower()}_token": name for name in _SPECIAL})


def _saved(made: Tokenizer, folder: Path, **names: str) -> Any:
    wrapped = PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=512, **names)
    wrapped.save_pretrained(str(folder))
    return wrapped


def spec(role: Role, **given: Any) -> ModelSpec:
    """A model of the tests as the manifest would tell of it."""
    files = (ModelFile(path="config.json", size=0, size_is_estimate=True),)
    names = {"model_id": f"tests/tiny-{role}", "revision": "1", "architecture": "tiny", "licence": "Apache-2.0", "max_tokens": 256}
    return ModelSpec(role=role, files=files, **{**names, **given})
