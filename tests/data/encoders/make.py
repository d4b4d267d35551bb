"""Small random encoders with a WordPiece vocabulary as llama.cpp writes them, and what transformers and
tokenizers compute with them in double precision.

    make.py FOLDER      writes bert-f32, nomic-bert-f32, reranker-f32 (.gguf, .json) and wordpiece.json

Needs Python's torch, transformers, tokenizers and gguf. Weights come from a fixed seed."""

import json
import sys
import tempfile
from pathlib import Path

import gguf
import numpy as np
import torch
from transformers import (BertConfig, BertForSequenceClassification, BertModel, BertTokenizerFast, NomicBertConfig,
                          NomicBertModel)

WIDTH, HEADS, FFN, CONTEXT, EPSILON = 32, 4, 48, 64, 1e-12

WORDS = """the a cat sat on mat dog ran machine learn deep paris is capital of france city hello world un want run
test what café naïve straße привет мир 東 京 中 国 한국 don t""".split()
PIECES = "##s ##ing ##ed ##able ##ning ##er ##ful ##вет ##ss ##ή".split()
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789éßαж"
MARKS = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~€—“”…¿"

TEXTS = [
    "", " ", "The cat sat on the mat.", "the cat's mats", "Machine learning is learnable!", "Hello, WORLD!",
    "\tHello\n\n world \r\n", "unwanted running", "Café naïve STRASSE Straße", "cafe\u0301 nai\u0308ve", "ПРИВЕТ, мир!",
    "東京は中国の city", "hello中国world", "한국", "a\u200bb\u00adc\x00d\x07e", "a\u00a0b\u3000c\u2028d", "don't-stop…",
    "$5.00 + €3 = ¿?", "“quoted”—dash", "x" * 100, "x" * 101, "zzz qqq ☃ snowman", "[CLS] the [MASK] [SEP]",
    "İstanbul ŒUVRE", "ﬁne ½ ² Ⅷ", "αβγ ή", "1234567890", "C++ & C#", "a.b,c;d:e", "\ufffd a", "\u037e ;", "ex\u1fefy",
    "a\u0b82\u0bcd b", "e\u0302\u0323 o", "😀 cat 😀cat", "\U0002f81a 豈", "\u000b a\u000cb\u0085c",
]


def vocabulary():
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *MARKS, *LETTERS, *("##" + c for c in LETTERS), *WORDS, *PIECES]
    return list(dict.fromkeys(pieces))


def tokenizer_of(folder, **options):
    path = Path(folder) / "vocab.txt"
    path.write_text("\n".join(vocabulary()) + "\n", encoding="utf-8")
    tokens = {text: i for i, text in enumerate(vocabulary())}
    return BertTokenizerFast(vocab=tokens, **options)


def randomize(model, seed):
    """All weights from one generator, large enough that every part of the model counts."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in sorted(model.named_parameters()):
            scale = 0.3 if "norm" in name.lower() or name.endswith("bias") else 1.0 if "embeddings" in name else 0.35
            values = torch.randn(weight.shape, generator=generator, dtype=torch.float32) * scale
            weight.copy_(values + 1 if "norm" in name.lower() and name.endswith("weight") else values)
    return model.double().eval()


class Writer:
    def __init__(self, path, arch, layers, pooling):
        self.arch = arch
        self.writer = gguf.GGUFWriter(path, arch)
        w = self.writer
        w.add_name(Path(path).stem)
        w.add_context_length(CONTEXT)
        w.add_embedding_length(WIDTH)
        w.add_block_count(layers)
        w.add_feed_forward_length(FFN)
        w.add_head_count(HEADS)
        w.add_layer_norm_eps(EPSILON)
        w.add_causal_attention(False)
        w.add_pooling_type(pooling)
        tokens = vocabulary()
        control = [text.startswith("[") and len(text) > 1 for text in tokens]
        w.add_token_type_count(2)
        w.add_tokenizer_model("bert")
        w.add_tokenizer_pre("default")
        # As the converter writes words: U+2581 before what begins one, and pieces without "##".
        w.add_token_list([text if special else text[2:] if text.startswith("##") and len(text) > 2 else "\u2581" + text
                          for text, special in zip(tokens, control)])
        w.add_token_types([int(gguf.TokenType.CONTROL if special else gguf.TokenType.NORMAL) for special in control])
        w.add_unk_token_id(tokens.index("[UNK]"))
        w.add_sep_token_id(tokens.index("[SEP]"))
        w.add_pad_token_id(tokens.index("[PAD]"))
        w.add_bos_token_id(tokens.index("[CLS]"))
        w.add_mask_token_id(tokens.index("[MASK]"))

    def tensor(self, name, *weights):
        self.writer.add_tensor(name, np.concatenate([w.detach().float().numpy() for w in weights]))

    def linear(self, name, module):
        self.tensor(name + ".weight", module.weight)
        if module.bias is not None:
            self.tensor(name + ".bias", module.bias)

    def close(self):
        self.writer.write_header_to_file()
        self.writer.write_kv_data_to_file()
        self.writer.write_tensors_to_file()
        self.writer.close()


def write_embeddings(out, embeddings):
    out.tensor("token_embd.weight", embeddings.word_embeddings.weight)
    out.tensor("token_types.weight", embeddings.token_type_embeddings.weight)
    out.linear("token_embd_norm", embeddings.LayerNorm)


def write_bert(out, model):
    write_embeddings(out, model.embeddings)
    out.tensor("position_embd.weight", model.embeddings.position_embeddings.weight)
    for i, layer in enumerate(model.encoder.layer):
        attention = layer.attention
        for part in ("query", "key", "value"):
            out.linear(f"blk.{i}.attn_{part[0]}", getattr(attention.self, part))
        out.linear(f"blk.{i}.attn_output", attention.output.dense)
        out.linear(f"blk.{i}.attn_output_norm", attention.output.LayerNorm)
        out.linear(f"blk.{i}.ffn_up", layer.intermediate.dense)
        out.linear(f"blk.{i}.ffn_down", layer.output.dense)
        out.linear(f"blk.{i}.layer_output_norm", layer.output.LayerNorm)


def write_nomic(out, model):
    write_embeddings(out, model.embeddings)
    for i, layer in enumerate(model.layers):
        attention = layer.self_attn
        out.tensor(f"blk.{i}.attn_qkv.weight", attention.q_proj.weight, attention.k_proj.weight, attention.v_proj.weight)
        out.linear(f"blk.{i}.attn_output", attention.o_proj)
        out.linear(f"blk.{i}.attn_output_norm", layer.post_attention_layernorm)
        for part in ("gate", "up", "down"):
            out.linear(f"blk.{i}.ffn_{part}", getattr(layer.mlp, part + "_proj"))
        out.linear(f"blk.{i}.layer_output_norm", layer.post_mlp_layernorm)


def bert_config(layers, **more):
    return BertConfig(vocab_size=len(vocabulary()), hidden_size=WIDTH, num_hidden_layers=layers, num_attention_heads=HEADS,
                      intermediate_size=FFN, max_position_embeddings=CONTEXT, layer_norm_eps=EPSILON, hidden_act="gelu",
                      attn_implementation="eager", **more)


def numbers(tensor):
    return [[float(f"{v:.9g}") for v in row] for row in tensor.detach().numpy()]


def states_of(model, tokenizer, texts):
    cases = []
    for text in texts:
        ids = tokenizer(text)["input_ids"]
        with torch.no_grad():
            states = model(input_ids=torch.tensor([ids]), attention_mask=torch.ones(1, len(ids))).last_hidden_state[0]
        cases.append({"text": text, "tokens": ids, "states": numbers(states)})
    return cases


def save(path, content):
    path.write_text(json.dumps(content, ensure_ascii=False) + "\n", encoding="utf-8")


def main():
    folder = Path(sys.argv[1])
    scratch = tempfile.mkdtemp()
    tokenizer = tokenizer_of(scratch)
    texts = ["The cat sat on the mat.", "Hello, world!", "Machine learning is learnable: a test of what the dog wants."]

    model = randomize(BertModel(bert_config(2), add_pooling_layer=False), 1)
    out = Writer(folder / "bert-f32.gguf", "bert", 2, gguf.PoolingType.MEAN)
    write_bert(out, model)
    out.close()
    save(folder / "bert-f32.json", {"arch": "bert", "cases": states_of(model, tokenizer, texts)})

    config = NomicBertConfig(vocab_size=len(vocabulary()), hidden_size=WIDTH, num_hidden_layers=2, num_attention_heads=HEADS,
                             intermediate_size=FFN, max_position_embeddings=CONTEXT, layer_norm_eps=EPSILON,
                             rope_parameters={"rope_type": "default", "rope_theta": 1000.0}, attn_implementation="eager")
    model = randomize(NomicBertModel(config, add_pooling_layer=False), 2)
    out = Writer(folder / "nomic-bert-f32.gguf", "nomic-bert", 2, gguf.PoolingType.CLS)
    out.writer.add_rope_freq_base(1000.0)
    write_nomic(out, model)
    out.close()
    save(folder / "nomic-bert-f32.json", {"arch": "nomic-bert", "cases": states_of(model, tokenizer, texts[:2])})

    model = randomize(BertForSequenceClassification(bert_config(1, num_labels=1)), 3)
    out = Writer(folder / "reranker-f32.gguf", "bert", 1, gguf.PoolingType.RANK)
    write_bert(out, model.bert)
    out.linear("cls", model.bert.pooler.dense)
    out.linear("cls.output", model.classifier)
    out.close()
    query = "What is machine learning?"
    documents = ["A machine is deep.", "Paris is the capital of France.", "The cat wants to learn."]
    pairs = []
    for document in documents:
        ids = tokenizer(query, document)["input_ids"]
        second = ids.index(vocabulary().index("[SEP]")) + 1
        types = [int(i >= second) for i in range(len(ids))]
        with torch.no_grad():
            score = model(input_ids=torch.tensor([ids]), token_type_ids=torch.tensor([types])).logits[0, 0].item()
        pairs.append({"document": document, "tokens": ids, "second": second, "score": score})
    save(folder / "reranker-f32.json", {"arch": "bert", "query": query, "pairs": pairs})

    plain = {"add_special_tokens": False}
    cased = tokenizer_of(scratch, do_lower_case=False, strip_accents=False)
    cases = []
    for text in TEXTS:
        # Special tokens are found in texts that are trusted; these are not, but for one.
        lower = tokenizer(text, **plain)["input_ids"]
        cases.append({"text": text, "ids": lower, "cased": cased(text, **plain)["input_ids"]})
    save(folder / "wordpiece.json", cases)


main()
