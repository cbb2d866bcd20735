"""Reads LeRobot data sets: values and camera frames of single rows, or of windows of rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from jdali._batches import Store
from jdali._errors import SampleError
from jdali._operators.record import Static, also_takes, reader
from jdali._storage import files as _storage
from jdali._system import limits
from jdali._system.regular_file import is_of_machine
from jdali.codecs import image as codec
from jdali.readers.base import Loaded, Reader, reader_options, shuffle_options, slices, stores, with_layouts
from jdali.readers.formats.arrow_columns import consecutive, need_pyarrow
from jdali.readers.formats.tables import column_names
from jdali.readers.formats.videos import Videos
from jdali.readers.lerobot_folder import Folder, check_rows, open_folder
from jdali.readers.parquet import parquet

_NAME = "readers.lerobot"
_TASK = "task"
# Several samples are decoded together if their frames have at most this many bytes.
_AT_ONCE = 1 << 28


class _TakenRows(NamedTuple):
    """The rows that the samples of a batch need.

    Attributes:
        episodes: int64 [n], episode of each sample.
        rows: for each column int64 [n, T], row numbers within the episode; T is 1 for a column without a window.
        beyond: for each column bool [n, T], True where the window leaves the episode; `rows` then has the episode's first
            or last row.
    """

    episodes: np.ndarray
    rows: dict[str, np.ndarray]
    beyond: dict[str, np.ndarray]


class LeRobotReader(Reader):
    """Reads rows of a data set; a column with a window has the values of several rows.

    Args:
        offsets: for each column, the rows of its window relative to the sample's row; None for a column without a window.
        padding: also return `_TakenRows.beyond` of the columns with a window.
        tolerance: largest difference between the times of a frame and of its row, seconds.
    """

    mixes = True

    def __init__(
        self, folder: Folder, columns: Sequence[str], offsets: Mapping[str, np.ndarray | None], episodes: np.ndarray,
        padding: bool, tolerance: float, options: Mapping[str, Any],
    ):  # fmt: skip
        self._folder, self._columns, self._offsets = folder, columns, offsets
        self._episodes, self._tolerance = episodes, tolerance
        self._first = np.cumsum([0, *folder.lengths[episodes]])
        self._windowed = [column for column in columns if offsets[column] is not None] if padding else []
        self._videos = {
            key: Videos([_storage.placed(path) for path in files.paths])
            for key, files in folder.videos.items()
        }
        self._tabled = {c: "task_index" if c in folder.texts else c for c in columns if c not in self._videos}
        self._open_rows()
        self.num_outputs = len(columns) + len(self._windowed)
        pictures = [folder.is_picture(column) for column in columns]
        self.layouts = [
            ("HWC" if offsets[c] is None else "FHWC") if picture else ""
            for c, picture in zip(columns, pictures, strict=True)
        ] + [""] * len(self._windowed)
        super().__init__(int(self._first[-1]), options)

    def _open_rows(self) -> None:
        data = self._folder.data
        files, place = np.unique(data.file[self._episodes], return_inverse=True)
        paths = tuple(data.paths[file] for file in files.tolist())
        columns = tuple(dict.fromkeys(self._tabled.values())) or ("index",)
        try:
            self._rows = parquet.run(columns=columns, paths=paths)
        except (ValueError, FileNotFoundError) as error:
            raise type(error)(f"{_NAME}: {error}") from error
        counts = self._rows.rows_by_file()
        check_rows(_NAME, self._folder, counts, files.tolist())
        before = np.cumsum([0, *counts])
        # Number of the first row of each episode, counted through all opened files.
        self._row = np.zeros(len(self._folder.lengths), np.int64)
        self._row[self._episodes] = before[place] + data.first[self._episodes].astype(np.int64)

    def meta(self) -> dict[str, Any]:
        """Returns `reader_meta`, with "fps" and the number of "episodes" to read."""
        return super().meta() | {"fps": self._folder.fps, "episodes": len(self._episodes)}

    def _place(self, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns each sample's episode, and its row in the episode."""
        number = np.searchsorted(self._first, indices, side="right") - 1
        return self._episodes[number], indices - self._first[number]

    def load_many(self, indices: np.ndarray) -> Loaded:
        episodes, rows = self._place(indices)
        last = self._folder.lengths[episodes][:, None] - 1
        wanted = {c: rows[:, None] + (0 if steps is None else steps) for c, steps in self._offsets.items()}
        taken = {column: numbers.clip(0, last) for column, numbers in wanted.items()}
        windows = _TakenRows(episodes, taken, {c: taken[c] != numbers for c, numbers in wanted.items()})
        failures: dict[int, Exception] = {}
        values = self._values(windows, failures)
        for key in self._videos:
            values[key] = self._frames(key, windows, failures)
        for column in self._windowed:
            values[f"{column} beyond"] = list(windows.beyond[column])
        failures = {i: self._named(indices.item(i), error) for i, error in failures.items()}
        good = [i for i in range(len(indices)) if i not in failures]
        names = [*self._columns, *(f"{column} beyond" for column in self._windowed)]
        samples = [tuple(values[name][i] for name in names) for i in good]
        return with_layouts(Loaded(stores(samples, self.num_outputs), failures), self.layouts)

    def _named(self, index: int, error: Exception) -> Exception:
        if not isinstance(error, SampleError):
            return error
        return SampleError(f"{_NAME}: {self.source(index)}: {error}")

    def _values(self, windows: _TakenRows, failures: dict[int, Exception]) -> dict[str, list[Any]]:
        """Reads the table's columns; returns for each column a list with the value of each sample, None if the sample fails."""
        if not self._tabled:
            return {}
        base = self._row[windows.episodes][:, None]
        wanted = {column: base + windows.rows[column] for column in self._tabled}
        unique, inverse = np.unique(
            np.concatenate([rows.ravel() for rows in wanted.values()]), return_inverse=True
        )
        loaded = self._rows.load_many(unique)
        place = np.full(len(unique), -1)
        place[[i for i in range(len(unique)) if i not in loaded.failures]] = np.arange(
            len(unique) - len(loaded.failures)
        )
        read = dict(zip(dict.fromkeys(self._tabled.values()), loaded.columns, strict=True))
        result: dict[str, list[Any]] = {}
        at = 0
        for column, rows in wanted.items():
            numbers = inverse[at : at + rows.size].reshape(rows.shape)
            at += rows.size
            for i in np.flatnonzero((place[numbers] < 0).any(axis=1)).tolist():
                bad = next(n for n in numbers[i].tolist() if place[n] < 0)
                failures.setdefault(i, loaded.failures[bad])
            single = self._offsets[column] is None
            result[column] = self._joined(
                column, read[self._tabled[column]], place[numbers], single, failures
            )
        return result

    def _joined(
        self, column: str, store: Store, places: np.ndarray, single: bool, failures: dict[int, Exception]
    ) -> list[Any]:
        """Stacks the rows of each window to [T, ...]; without a window, takes a single row."""
        samples: list[Any] = store.host_samples()
        if column in self._folder.texts:
            samples = [self._folder.texts[column].get(int(value)) for value in samples]
        if self._folder.is_picture(column):
            samples = _Pictures(samples)  # type: ignore[assignment]
        result: list[Any] = []
        for i, row in enumerate(places.tolist()):
            value = None
            if i not in failures:
                try:
                    parts = [samples[place] for place in row]
                    if any(part is None for part in parts):
                        raise SampleError("its number has no text")
                    value = parts[0] if single else np.stack(parts)
                except SampleError as error:
                    failures[i] = SampleError(f"{column}: {error}")
                except ValueError as error:
                    failures[i] = SampleError(f"{column} makes no array over its window: {error}")
            result.append(value)
        return result

    def _frames(self, key: str, windows: _TakenRows, failures: dict[int, Exception]) -> list[Any]:
        """Reads the frames of a camera, file by file; returns [T, H, W, 3] or [H, W, 3] for each sample."""
        files = self._folder.videos[key]
        owners = files.file[windows.episodes]
        seconds = files.first[windows.episodes][:, None] + windows.rows[key] / self._folder.fps
        result: list[Any] = [None] * len(owners)
        for file in np.unique(owners).tolist():
            mine = np.flatnonzero(owners == file)
            mine = mine[np.argsort(seconds[mine, 0], kind="stable")]
            numbers: dict[int, np.ndarray] = {}
            for i in mine.tolist():
                if i in failures:
                    continue
                try:
                    numbers[i] = self._numbers(key, file, seconds[i])
                except (SampleError, OSError) as error:
                    failures[i] = self._of_file(error, files.paths[file])
            self._read(key, file, numbers, result, failures)
        if self._offsets[key] is None:
            return [None if frames is None else frames[0] for frames in result]
        return result

    def _numbers(self, key: str, file: int, seconds: np.ndarray) -> np.ndarray:
        """Returns the numbers of the frames nearest to these times; raises `SampleError` if a frame is too far off."""
        times = self._videos[key].index(file).seconds()
        right = np.searchsorted(times, seconds).clip(1, max(len(times) - 1, 1)).clip(max=len(times) - 1)
        left = np.maximum(right - 1, 0)
        numbers = np.where(seconds - times[left] <= times[right] - seconds, left, right)
        away = np.abs(times[numbers] - seconds)
        if (away > self._tolerance).any():
            worst = int(away.argmax())
            raise SampleError(
                f"{key} has no frame at {seconds[worst]:.6f} s; the nearest is at {times[numbers[worst]]:.6f} s"
            )
        return numbers

    def _read(
        self, key: str, file: int, numbers: Mapping[int, np.ndarray], result: list[Any], failures: dict[int, Exception]
    ) -> None:  # fmt: skip
        """Decodes the frames of samples together; if frames are too large or damaged, decodes each half separately."""
        if not numbers:
            return
        videos, order = self._videos[key], list(numbers)
        unique, inverse = np.unique(np.concatenate([numbers[i] for i in order]), return_inverse=True)
        index = videos.index(file)
        most = min(_AT_ONCE, limits.most("max_sample_bytes"))
        fits = len(unique) * index.height * index.width * 3 <= most and len(unique) <= limits.most(
            "max_frames"
        )
        if fits or len(order) == 1:
            try:
                frames = videos.read(file, unique)
            except (SampleError, OSError) as error:
                if len(order) == 1 or is_of_machine(error):
                    failures.update(
                        dict.fromkeys(order, self._of_file(error, self._folder.videos[key].paths[file]))
                    )
                    return
            else:
                frames.flags.writeable = False  # windows share frames
                for i, places in zip(order, inverse.reshape(len(order), -1), strict=True):
                    run = consecutive(places)
                    result[i] = frames[places if run is None else run]
                return
        for half in (order[: len(order) // 2], order[len(order) // 2 :]):
            self._read(key, file, {i: numbers[i] for i in half}, result, failures)

    @staticmethod
    def _of_file(error: Exception, path: str) -> Exception:
        if is_of_machine(error):
            return error
        return SampleError(f"{path}: {getattr(error, 'strerror', None) or error}")

    def tasks(self, indices: np.ndarray, threads: int) -> list[slice]:
        """Gives each thread consecutive samples, because their windows share frames."""
        return slices(len(indices), -(-len(indices) // threads))

    def source(self, index: int) -> str:
        episode, row = self._place(np.array([index]))
        return f"{self._folder.path}#episode {episode[0]} row {row[0]}"

    @property
    def reads_ahead(self) -> bool:  # type: ignore[override]
        return self._rows.reads_ahead

    def interrupt(self) -> None:
        self._rows.interrupt()
        for videos in self._videos.values():
            videos.interrupt()

    def close(self) -> None:
        self._rows.close()
        for videos in self._videos.values():
            videos.close()


class _Pictures:
    """Decodes pictures of a column on access, each picture once."""

    def __init__(self, encoded: Sequence[np.ndarray]):
        self._encoded, self._decoded = encoded, dict[int, np.ndarray]()

    def __getitem__(self, place: int) -> np.ndarray:
        if place not in self._decoded:
            self._decoded[place] = codec.decode(self._encoded[place])
        return self._decoded[place]


def _count(arguments: Mapping[str, Any]) -> int:
    columns = column_names(_NAME, arguments["columns"])
    windows = arguments.get("delta_timestamps") or {}
    return len(columns) + bool(arguments.get("with_padding")) * sum(column in windows for column in columns)


@reader(name=_NAME, outputs=_count, devices=("cpu",))
@also_takes(shuffle_options, reader_options)
def lerobot(
    *,
    columns: Static[tuple[str, ...]],
    directory: Static[str],
    delta_timestamps: Static[Any] = None,
    episodes: Static[Any] = None,
    tolerance: Static[float] = 1e-4,
    with_padding: Static[bool] = False,
    **options: Any,
) -> LeRobotReader:
    """Reads a LeRobot data set (versions 2 and 3): each row is a sample, with an output for each of `columns`.

    Values come from Parquet files, camera frames from videos or pictures. The frames that a batch needs from one file
    are decoded together, in order, and each only once. Samples have the same order as in `readers.parquet`:
    `random_shuffle` mixes rows through a buffer of `initial_fill` rows, so that samples of a batch share row groups
    and frames. The package `lerobot` is not needed.

    Parity: DALI has no such reader. Windows and frames are chosen as in `LeRobotDataset`.

    Args:
        columns: names of features in `meta/info.json`; "task" for the text of a row's task.
        directory: the folder, or its URL.
        delta_timestamps: {column: seconds}: the window of a column, relative to the time of the row, such as [-0.1,
            0, 0.1]. Each time must be a multiple of the time between rows. Rows outside the episode are replaced by its first or
            last row.
        episodes: numbers of the episodes to read; None: all.
        tolerance: largest difference between the times of a frame and of its row, seconds.
        with_padding: append an output for each column with a window: True where the window leaves the episode.

    Returns: for each column: uint8 [H, W, 3] for cameras, [] or [n, ...] for values, uint8 [bytes] for texts; a window
        adds an axis at the front. With `with_padding`, bool [T] for each window.

    Example:
        frames, state = fn.readers.lerobot(
            directory="robot",
            columns=["observation.images.top", "observation.state"],
            delta_timestamps={"observation.state": [-0.2, -0.1, 0]},
        )
    """
    need_pyarrow(_NAME)
    names = column_names(_NAME, columns)
    folder = open_folder(_NAME, _storage.user_path(directory), names)
    unknown = [name for name in names if name not in folder.features and name not in folder.texts]
    if unknown:
        known = ", ".join(map(repr, [*folder.features, _TASK]))
        raise ValueError(f"{_NAME}: {directory} has no column {unknown[0]!r}; it has {known}")
    if not isinstance(delta_timestamps, (Mapping, type(None))):
        raise ValueError(
            f"{_NAME}: delta_timestamps is {delta_timestamps!r}; it must be a dict, {{column: [seconds, ...]}}"
        )
    windows = dict(delta_timestamps or {})
    if strange := [name for name in windows if name not in names]:
        raise ValueError(f"{_NAME}: delta_timestamps names {strange[0]!r}, which is none of the columns")
    offsets = {name: _steps(name, windows[name], folder.fps) if name in windows else None for name in names}
    return LeRobotReader(
        folder, names, offsets, _chosen(episodes, len(folder.lengths)), with_padding, tolerance, options
    )


def _steps(column: str, seconds: Any, fps: float) -> np.ndarray:
    """Converts a window's times to numbers of rows relative to the sample's row, int64 [T]."""
    times = np.asarray(seconds, np.float64)
    if times.ndim != 1 or not times.size or not np.isfinite(times).all():
        raise ValueError(
            f"{_NAME}: delta_timestamps of {column!r} are {seconds!r}; they must be a list of seconds"
        )
    limits.check("max_frames", times.size, f"a window of {times.size} rows")
    steps = np.round(times * fps)
    wrong = np.abs(steps / fps - times) > 1e-4
    if wrong.any():
        raise ValueError(
            f"{_NAME}: delta_timestamps of {column!r} have {times[wrong.argmax()]:g} s, which is not a whole number of rows "
            f"at {fps:g} a second"
        )
    return steps.astype(np.int64)


def _chosen(episodes: Any, count: int) -> np.ndarray:
    if episodes is None:
        return np.arange(count)
    chosen = np.asarray([*episodes] if isinstance(episodes, Iterable) else [episodes])
    if chosen.dtype.kind not in "iu" or not chosen.size or chosen.min() < 0 or chosen.max() >= count:
        raise ValueError(f"{_NAME}: episodes is {episodes!r}; it must be numbers from 0 to {count - 1}")
    if len(np.unique(chosen)) < len(chosen):
        raise ValueError(f"{_NAME}: episodes names one twice")
    return chosen.astype(np.int64)
