"""Trains a small network to write down what it hears, from recordings of different lengths.

    python speech.py                                   # dialled telephone numbers, made on the spot
    python speech.py --train A.json --val B.json       # NeMo manifests: audio_filepath, duration, text

jdali reads and decodes the recordings, makes mel spectrograms and pads them to a batch with their sizes;
Flax NNX and Optax train with the CTC loss, which finds out by itself when each character is heard.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax
from _tones import tones_folder
from _training import add_arguments, check_file, train_epoch, training_data, validation_data
from flax import nnx

from jdali import fn, pipeline_def, types
from jdali.data_node import DataNode
from jdali.iterator import DataIterator, LastBatchPolicy

BLANK = 0  # of CTC: nothing new is heard


@pipeline_def
def spectrograms(manifest: str, rate: int, bands: int, shuffle: bool) -> tuple[DataNode, ...]:
    """Normalized log-mel spectrograms [bands, frames], and the text as bytes."""
    audio, text = fn.readers.nemo_asr(
        manifest_filepaths=[manifest], sample_rate=rate, downmix=True, read_sample_rate=False, read_text=True, dtype=types.FLOAT,
        random_shuffle=shuffle, pad_last_batch=not shuffle, name="Reader",
    )  # fmt: skip
    audio = fn.preemphasis_filter(audio, preemph_coeff=0.97)
    # 32 ms windows every 16 ms.
    window = rate * 32 // 1000
    spectrum = fn.spectrogram(audio, nfft=window, window_length=window, window_step=window // 2)
    mel = fn.mel_filter_bank(spectrum, sample_rate=float(rate), nfilter=bands, freq_high=rate / 2)
    decibels = fn.to_decibels(mel, multiplier=10.0, cutoff_db=-60.0)
    return fn.normalize(decibels, axes=[0, 1]), text


class Alphabet:
    """The characters of a data set as numbers from 1 on; 0 is CTC's blank."""

    def __init__(self, manifest: str):
        lines = Path(manifest).read_text(encoding="utf-8").splitlines()
        texts = [json.loads(line)["text"] for line in lines if line.strip()]
        self.characters = sorted({byte for text in texts for byte in text.encode()})
        self.numbers = np.zeros(256, np.int32)
        self.numbers[self.characters] = np.arange(1, len(self.characters) + 1)

    def __len__(self) -> int:
        return len(self.characters) + 1

    def text(self, labels: Sequence[int]) -> str:
        """What a sequence of labels, one a frame, stands for."""
        kept = [b for a, b in zip([BLANK, *labels], labels, strict=False) if b not in (a, BLANK)]
        return bytes(self.characters[label - 1] for label in kept).decode(errors="replace")


class Network(nnx.Module):
    """Convolutions over time; scores of the characters for every second frame."""

    def __init__(self, bands: int, classes: int, width: int, *, rngs: nnx.Rngs):
        def convolution(before: int, after: int, strides: int) -> nnx.Conv:
            return nnx.Conv(before, after, (5,), strides=strides, rngs=rngs)

        self.layers = nnx.List(
            [convolution(bands, width, 2), convolution(width, width, 1), convolution(width, width, 1)]
        )
        self.norms = nnx.List([nnx.LayerNorm(width, rngs=rngs) for _ in self.layers])
        self.head = nnx.Linear(width, classes, rngs=rngs)

    def __call__(self, mel: jax.Array, frames: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Scores [N, T, classes], and how many of the T belong to each recording.

        Args:
            mel: [N, bands, frames], padded.
            frames: int32 [N], true numbers of frames.
        """
        x = mel.swapaxes(1, 2)
        for layer, norm in zip(self.layers, self.norms, strict=True):
            # Padding must not leak into what is heard at the end.
            valid = jnp.arange(x.shape[1]) < frames[:, None]
            x = nnx.relu(norm(layer(jnp.where(valid[..., None], x, 0))))
            frames = -(-frames // layer.strides) if isinstance(layer.strides, int) else frames
        return self.head(x), frames


def ctc(model: Network, mel: jax.Array, frames: jax.Array, labels: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The CTC loss of each recording, and its best label for each frame (-1 past the end).

    Args:
        labels: int32 [N, characters], padded with 0.
    """
    scores, heard = model(mel, frames)
    past = jnp.arange(scores.shape[1]) >= heard[:, None]
    losses = optax.ctc_loss(scores, past.astype(jnp.float32), labels, (labels == 0).astype(jnp.float32))
    return losses, jnp.where(past, -1, scores.argmax(-1))


@nnx.jit
def train_step(
    model: Network, optimizer: nnx.Optimizer, mel: jax.Array, frames: jax.Array, labels: jax.Array
) -> jax.Array:
    """One step; returns the mean loss."""
    loss, gradients = nnx.value_and_grad(lambda m: ctc(m, mel, frames, labels)[0].mean())(model)
    optimizer.update(model, gradients)
    return loss


validation_step = nnx.jit(ctc)


def operands(batch: dict[str, jax.Array], alphabet: Alphabet) -> tuple[jax.Array, jax.Array, np.ndarray]:
    """Spectrograms, their numbers of frames, and the labels of the characters."""
    return batch["mel"], batch["mel_extent"][:, 1], alphabet.numbers[np.asarray(batch["text"])]


def validate(model: Network, data: DataIterator, alphabet: Alphabet) -> float:
    """Share of recordings that are written down without a fault, each counted once."""
    right = total = 0
    for batch in data:
        mel, frames, labels = operands(batch, alphabet)
        _, best = validation_step(model, mel, frames, labels)
        for heard, said, real in zip(np.asarray(best), labels, np.asarray(batch["mask"]), strict=True):
            if real:
                total += 1
                right += alphabet.text(heard[heard >= 0].tolist()) == bytes(
                    alphabet.characters[label - 1] for label in said if label
                ).decode(errors="replace")
    return right / total


def run(args: argparse.Namespace) -> dict[str, list[float]]:
    """Trains and validates; returns the training losses and the accuracy after each epoch."""
    if (args.train is None) != (args.val is None):
        raise SystemExit("give both --train and --val, or none of them")
    folder = tones_folder() if args.train is None else None
    train, val = (str(folder / f"{s}.json" if folder else vars(args)[s]) for s in ("train", "val"))
    for manifest in (train, val):
        check_file(Path(manifest))
    alphabet = Alphabet(train)
    options = {"num_threads": args.threads, "seed": args.seed}
    outputs = ["mel", "text"]
    training, validation = (
        open_data(
            lambda size, manifest=manifest, shuffle=shuffle: spectrograms(  # type: ignore[misc]
                manifest, args.rate, args.bands, shuffle, batch_size=size, **options
            ),
            args.batch_size,
        )
        for open_data, manifest, shuffle in ((training_data, train, True), (validation_data, val, False))
    )
    train_data = DataIterator(
        training, outputs, reader_name="Reader",
        last_batch_policy=LastBatchPolicy.DROP, ragged="pad",
    )  # fmt: skip
    val_data = DataIterator(
        validation, outputs, reader_name="Reader",
        last_batch_policy=LastBatchPolicy.PAD, ragged="pad", prepare_first_batch=False,
    )  # fmt: skip
    print(
        f"{train_data.size} recordings to train, {val_data.size} to validate, {len(alphabet) - 1} characters"
    )
    model = Network(args.bands, len(alphabet), args.width, rngs=nnx.Rngs(args.seed))
    optimizer = nnx.Optimizer(model, optax.adamw(args.lr), wrt=nnx.Param)
    history: dict[str, list[float]] = {"loss": [], "accuracy": []}
    with train_data, val_data:
        for epoch in range(args.epochs):
            title = f"epoch {epoch + 1}/{args.epochs}"
            losses = train_epoch(
                train_data, lambda batch: train_step(model, optimizer, *operands(batch, alphabet)), title,
                args.steps - len(history["loss"]),
            )  # fmt: skip
            history["loss"] += losses
            history["accuracy"].append(validate(model, val_data, alphabet))
            print(
                f"{title}: loss {np.mean(losses):.3f}, {history['accuracy'][-1]:.1%} without a fault, "
                f"{train_data.wait_share:.1%} of the time waiting for data",
                flush=True,
            )
            if len(history["loss"]) >= args.steps:
                break
    return history


def parse(argv: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--train", type=Path, help="NeMo manifest; default: dialled numbers")
    parser.add_argument("--val", type=Path, help="NeMo manifest")
    parser.add_argument("--rate", type=int, default=8000, help="samples a second to resample to")
    parser.add_argument("--bands", type=int, default=40, help="mel bands")
    parser.add_argument("--width", type=int, default=64, help="channels of the network")
    add_arguments(parser, epochs=12, batch_size=16, lr=3e-3)
    return parser.parse_args(argv)


if __name__ == "__main__":
    began = time.perf_counter()
    result = run(parse())
    print(f"{result['accuracy'][-1]:.1%} without a fault after {time.perf_counter() - began:.0f} s")
