"""tokenize against the packages `tokenizers` and `sentencepiece` themselves."""

import json
import random
import sys

import jax
import numpy as np
import pytest

import jdali.dynamic as jd
from jdali import OperatorError, fn, pipeline_def
from jdali.iterator import DataIterator

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")

_WORDS = [
    "the",
    "of",
    "photo",
    "dog",
    "with",
    "running",
    "blue",
    "street",
    "größe",
    "東京",
    "été",
    "🙂",
    "don't",
]


def _texts(count, seed=0):
    chosen = random.Random(seed)
    texts = [" ".join(chosen.choices(_WORDS, k=chosen.randrange(1, 20))) for _ in range(count)]
    return ["", " ", "a\0b", *texts][:count]


TEXTS = _texts(48)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tokenizers of both packages' kinds: BPE by bytes, and WordPiece with special tokens, padding and truncation."""
    folder = tmp_path_factory.mktemp("tokenizers")
    bpe = tokenizers.Tokenizer(tokenizers.models.BPE())
    bpe.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=320, initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=["<|endoftext|>"], show_progress=False,
    )  # fmt: skip
    bpe.train_from_iterator(TEXTS, trainer)
    bpe.save(str(folder / "bpe.json"))
    pieces = tokenizers.Tokenizer(tokenizers.models.WordPiece(unk_token="[UNK]"))
    pieces.normalizer = tokenizers.normalizers.BertNormalizer()
    pieces.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    special = ["[UNK]", "[CLS]", "[SEP]", "[PAD]"]
    trainer = tokenizers.trainers.WordPieceTrainer(vocab_size=60, special_tokens=special, show_progress=False)
    pieces.train_from_iterator(TEXTS, trainer)
    pieces.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    pieces.enable_truncation(4)
    pieces.enable_padding()
    pieces.save(str(folder / "bert.json"))
    return folder


def run(texts, batch_size, **args):
    """All outputs of a pipeline, a list of samples each."""

    @pipeline_def(batch_size=batch_size, num_threads=2, device_id=None)
    def define():
        made = fn.tokenize(fn.external_source(source=_batches(texts, batch_size), batch=True), **args)
        return tuple(made) if isinstance(made, list) else made

    outputs = None
    with define() as pipe:
        for _ in range(0, len(texts), batch_size):
            batch = [[np.asarray(s) for s in one] for one in pipe.run()]
            outputs = batch if outputs is None else [a + b for a, b in zip(outputs, batch, strict=True)]
    return outputs


def _batches(texts, size):
    samples = [np.frombuffer(t.encode(), np.uint8) for t in texts]
    return [samples[at : at + size] for at in range(0, len(samples), size)]


def equal(got, expected):
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_array_equal(a, b, strict=True)


@pytest.mark.parametrize("name", ["bpe", "bert"])
@pytest.mark.parametrize("batch_size", [1, 2, 3, 8])
def test_ids_are_those_of_tokenizers(folder, name, batch_size):
    theirs = tokenizers.Tokenizer.from_file(str(folder / f"{name}.json"))
    theirs.no_truncation()
    theirs.no_padding()
    (ids,) = run(TEXTS, batch_size, tokenizer=folder / f"{name}.json")
    equal(ids, [np.array(theirs.encode(t).ids, np.int32) for t in TEXTS])


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("length", [2, 3, 7, 64])
def test_texts_are_cut_and_padded(folder, side, length):
    theirs = tokenizers.Tokenizer.from_file(str(folder / "bert.json"))
    theirs.enable_truncation(length, direction=side)
    theirs.enable_padding(length=length, pad_id=3)
    ids, mask, lengths = run(
        TEXTS, 8, tokenizer=folder / "bert.json", length=length, truncation_side=side, pad_id=3, with_mask=True,
        with_length=True,
    )  # fmt: skip
    expected = [theirs.encode(t) for t in TEXTS]
    equal(ids, [np.array(e.ids, np.int32) for e in expected])
    equal(mask, [np.array(e.attention_mask, bool) for e in expected])
    equal(lengths, [np.array(sum(e.attention_mask), np.int32) for e in expected])


def test_mask_and_length_of_texts_as_they_are(folder):
    ids, mask, lengths = run(TEXTS, 8, tokenizer=folder / "bpe.json", with_mask=True, with_length=True)
    equal(mask, [np.ones(len(one), bool) for one in ids])
    equal(lengths, [np.array(len(one), np.int32) for one in ids])


def test_special_tokens(folder):
    path, theirs = folder / "bpe.json", tokenizers.Tokenizer.from_file(str(folder / "bpe.json"))
    plain = [theirs.encode(t).ids for t in TEXTS]
    (ids,) = run(TEXTS, 8, tokenizer=path, bos=5, eos="<|endoftext|>")
    equal(ids, [np.array([5, *one, 0], np.int32) for one in plain])
    (ids,) = run(TEXTS, 8, tokenizer=path, bos=5, eos=0, length=6, pad_id=9)
    equal(ids, [np.array(([5, *one[:4], 0] + [9] * 6)[:6], np.int32) for one in plain])
    (ids,) = run(TEXTS, 8, tokenizer=path, bos=5, eos=0, length=2, pad_id=9)
    equal(ids, [np.array([5, 0], np.int32)] * len(TEXTS))
    theirs = tokenizers.Tokenizer.from_file(str(folder / "bert.json"))
    theirs.no_truncation()
    theirs.no_padding()
    (ids,) = run(TEXTS, 8, tokenizer=folder / "bert.json", add_special_tokens=False)
    equal(ids, [np.array(theirs.encode(t, add_special_tokens=False).ids, np.int32) for t in TEXTS])


def test_the_file_names_what_pads(folder, tmp_path):
    (ids,) = run(["a"], 1, tokenizer=folder / "bert.json", length=9)
    assert ids[0][-1] == 0  # its padding says so
    content = json.loads((folder / "bert.json").read_text())
    (tmp_path / "plain.json").write_text(json.dumps(content | {"padding": None}))
    (ids,) = run(["a"], 1, tokenizer=tmp_path / "plain.json", length=9)
    assert ids[0][-1] == 3  # [PAD]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"tokenizer": "bpe.json", "length": 4}, "names no token that pads; give pad_id"),
        ({"tokenizer": "bert.json", "length": 0}, "length is 0"),
        ({"tokenizer": "bert.json", "length": 1}, "length is 1, and each text has 2 special tokens"),
        ({"tokenizer": "bert.json", "length": 2, "eos": "[SEP]"}, "each text has 3 special tokens"),
        ({"tokenizer": "bpe.json", "eos": "<end>"}, "eos is '<end>', no token of"),
        ({"tokenizer": "bpe.json", "truncation_side": "middle"}, "truncation_side is 'middle'"),
        ({"tokenizer": "none.json"}, "No such file"),
        ({"tokenizer": "bad.json"}, "is not a tokenizer"),
        ({"tokenizer": "dropout.json"}, "has a dropout"),
    ],
)
def test_arguments_that_are_wrong(folder, args, message):
    (folder / "bad.json").write_text("{}")
    content = json.loads((folder / "bpe.json").read_text())
    content["model"]["dropout"] = 0.1
    (folder / "dropout.json").write_text(json.dumps(content))
    with pytest.raises(OperatorError, match=message):
        run(["a"], 1, **args | {"tokenizer": folder / args["tokenizer"]})


def test_inputs_that_are_no_texts(folder):
    for value in (np.zeros((2, 2), np.uint8), np.zeros(3, np.int32)):
        with pytest.raises(ValueError, match="a text is uint8 with one axis"):
            jd.tokenize(value, tokenizer=folder / "bpe.json")


def test_a_text_that_is_not_utf_8_is_a_bad_sample(folder):
    samples = [np.frombuffer(t, np.uint8) for t in (b"a cat", b"\xff\xfe", b"a dog", b"caf\xc3")]

    def define(on_error):
        @pipeline_def(batch_size=4, num_threads=2, device_id=None, on_error=on_error)
        def definition():
            texts = fn.external_source(source=[samples], batch=True)
            return fn.tokenize(texts, tokenizer=folder / "bpe.json", length=8, pad_id=0)

        return definition()

    with (
        define("raise") as pipe,
        pytest.raises(OperatorError, match=r"not UTF-8: invalid start byte at byte 0 of 2\n.*sample 1"),
    ):
        pipe.run()
    loop = DataIterator(define("mask"), ["ids"])
    (batch,) = list(loop)
    assert batch["mask"].tolist() == [True, False, True, False]
    assert isinstance(batch["ids"], jax.Array)
    assert batch["ids"].shape == (4, 8)


def test_a_changed_file_is_another_tokenizer(folder, tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_bytes((folder / "bpe.json").read_bytes())
    before = np.asarray(jd.tokenize("a photo of a dog", tokenizer=path))
    path.write_bytes((folder / "bert.json").read_bytes())
    after = np.asarray(jd.tokenize("a photo of a dog", tokenizer=path))
    assert before.tolist() != after.tolist()
    assert after[0] == 1  # [CLS]


def test_nothing_in_a_batch(folder):
    @pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def define():
        texts = fn.external_source(source=[_batches(["a", "b"], 2)[0]], batch=True)
        if fn.constant(idata=[0], shape=[]) > 0:
            ids = fn.tokenize(texts, tokenizer=folder / "bpe.json", length=8, pad_id=0)
        else:
            ids = fn.tokenize(texts, tokenizer=folder / "bpe.json", length=8, pad_id=1)
        return ids

    with define(enable_conditionals=True) as pipe:
        (batch,) = pipe.run()
    assert [np.asarray(one)[-1] for one in batch] == [1, 1]


def test_a_package_that_is_missing(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(ImportError, match=r"needs the package tokenizers: pip install .*\[text\]"):
        jd.tokenize("a", tokenizer=folder / "bpe.json", eos=7)


def test_worker_processes(folder):
    @pipeline_def(batch_size=8, num_threads=1, device_id=None, workers=1)
    def define():
        texts = fn.readers.dataset(dataset=TEXTS)
        return fn.tokenize(texts, tokenizer=folder / "bpe.json", length=16, pad_id=0)

    here = run(TEXTS, 8, tokenizer=folder / "bpe.json", length=16, pad_id=0)[0]
    with define() as pipe:
        there = [np.asarray(one) for _ in range(6) for one in pipe.run()[0]]
    equal(there, here)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    sentencepiece = pytest.importorskip("sentencepiece", reason="sentencepiece is not installed")
    folder = tmp_path_factory.mktemp("sentencepiece")
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(_texts(400)), model_prefix=str(folder / "text"), vocab_size=60,
        model_type="bpe", byte_fallback=False, hard_vocab_limit=False, minloglevel=2,
    )  # fmt: skip
    return folder / "text.model"


def test_ids_are_those_of_sentencepiece(model):
    import sentencepiece

    theirs = sentencepiece.SentencePieceProcessor(model_file=str(model))
    expected = [theirs.encode(t) for t in TEXTS]
    for batch_size in (1, 3, 8):
        (ids,) = run(TEXTS, batch_size, tokenizer=model)
        equal(ids, [np.array(one, np.int32) for one in expected])
    bos, eos = theirs.bos_id(), theirs.eos_id()
    for side in ("left", "right"):
        (ids,) = run(TEXTS, 8, tokenizer=model, bos="<s>", eos=eos, length=5, pad_id=9, truncation_side=side)
        cut = [one[-3:] if side == "left" else one[:3] for one in expected]
        equal(ids, [np.array(([bos, *one, eos] + [9] * 5)[:5], np.int32) for one in cut])
        (ids,) = run(
            TEXTS[-8:], 8, tokenizer=model, bos="<s>", eos=eos, length=2, pad_id=9, truncation_side=side
        )
        equal(ids, [np.array([bos, eos], np.int32)] * 8)


def test_errors_of_sentencepiece(model, tmp_path):
    with pytest.raises(ValueError, match="bos is 'nothing', no token"):
        jd.tokenize("a", tokenizer=model, bos="nothing")
    with pytest.raises(ValueError, match="names no token that pads"):
        jd.tokenize("a", tokenizer=model, length=8)
    (tmp_path / "bad.model").write_bytes(b"nothing of this kind")
    with pytest.raises(ValueError, match="neither a tokenizer.json nor a model of SentencePiece"):
        jd.tokenize("a", tokenizer=tmp_path / "bad.model")


def test_sentencepiece_is_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    (tmp_path / "some.model").write_bytes(b"\n\x0e\n\x05<unk>")
    with pytest.raises(ImportError, match=r"needs the package sentencepiece: pip install .*\[text\]"):
        jd.tokenize("a", tokenizer=tmp_path / "some.model")
