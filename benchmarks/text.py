"""Measures tokenizing, jdali against `tokenizers` alone: texts a second, in batches of arrays.

    python benchmarks/text.py [--threads 2] [--rounds 5] [--workload captions documents]

Captions have about 15 words, documents about 500. Both rivals use the same byte-level BPE, which the script trains, and
cut or pad to 64 or 1,024 tokens. The rivals run in separate processes and take turns. A row shows the median over the
rounds; the ratio compares a turn with the turn of `tokenizers` in the same round (median).
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from _harness import arguments, compare, print_row, serve_batches

BATCH = 256
COUNT = {"captions": 20_000, "documents": 1_000}
WORDS = {"captions": 15, "documents": 500}
LENGTH = {"captions": 64, "documents": 1024}
BATCHES = {"captions": 100, "documents": 16}


def make(folder: Path, kind: str) -> None:
    """Writes texts, one on each line, and a tokenizer that is trained on them."""
    import tokenizers

    chosen = random.Random(0)
    letters = "etaoinshrdlu"
    words = ["".join(chosen.choices(letters, k=chosen.randrange(2, 9))) for _ in range(20_000)]
    common = [1 / (rank + 1) for rank in range(len(words))]
    texts = [
        " ".join(chosen.choices(words, common, k=max(1, round(chosen.gauss(WORDS[kind], WORDS[kind] / 3)))))
        for _ in range(COUNT[kind])
    ]
    folder.mkdir(parents=True)
    (folder / "texts.txt").write_text("\n".join(texts))
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=8000, initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.save(str(folder / "tokenizer.json"))


def with_jdali(kind: str, folder: str, threads: int) -> Iterator[Any]:
    from jdali import fn, pipeline_def

    texts = Path(folder, "texts.txt").read_text().split("\n")

    @pipeline_def(batch_size=BATCH, num_threads=threads, device_id=None)
    def ids() -> Any:
        text = fn.readers.dataset(dataset=texts)
        return fn.tokenize(text, tokenizer=f"{folder}/tokenizer.json", length=LENGTH[kind], pad_id=0)

    pipe = ids()
    while True:
        yield pipe.run()[0].as_array()


def with_tokenizers(kind: str, folder: str, _: int) -> Iterator[Any]:
    import tokenizers

    texts = Path(folder, "texts.txt").read_text().split("\n")
    tokenizer = tokenizers.Tokenizer.from_file(f"{folder}/tokenizer.json")
    tokenizer.enable_truncation(LENGTH[kind])
    tokenizer.enable_padding(length=LENGTH[kind])
    while True:
        for at in range(0, len(texts) - BATCH + 1, BATCH):
            found = tokenizer.encode_batch(texts[at : at + BATCH])
            yield np.array([one.ids for one in found], np.int32)


RIVALS = {"tokenizers": with_tokenizers, "jdali": with_jdali}


def worker(rival: str, workload: str, data: str, threads: int) -> None:
    serve_batches(lambda: RIVALS[rival](workload, data, threads), BATCH)


def main() -> None:
    parser = arguments(__doc__, batches=0, rivals=RIVALS, choices={"workload": COUNT})
    options = parser.parse_args()
    if options.worker:
        rival, workload = options.worker
        worker(rival, workload, options.data, options.threads)
        return
    print("| workload | rival | texts/s, median (low to high) | ratio to tokenizers | first batch, s |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as root:
        for kind in options.workload:
            data = Path(root) / kind
            make(data, kind)
            rows = compare(
                Path(__file__), options.rivals, kind, data=str(data), threads=options.threads,
                rounds=options.rounds, batches=options.batches or BATCHES[kind],
            )  # fmt: skip
            for row in rows:
                print_row(row)


if __name__ == "__main__":
    main()
