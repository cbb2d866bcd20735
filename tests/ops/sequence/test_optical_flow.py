"""optical_flow on moving textures whose motion is known.

DALI has it on NVIDIA's optical flow engine only. The reference is the motion itself; OpenCV's Farnebäck, on the same
frames, says what a good method reaches.
"""

import functools

import jax
import numpy as np
import pytest
from support import contract

import jdali
from jdali import fn, types
from jdali._operators.pure import pure_call
from jdali.ops.sequence._optical_flow import optical_flow

SIZE = (72, 90)


def waves(x, y):
    """A texture that is known at every coordinate, 0 to 255."""
    rng = np.random.default_rng(7)
    total = np.zeros(np.broadcast(x, y).shape)
    for _ in range(24):
        length, angle, phase = rng.uniform(7, 40), rng.uniform(0, np.pi), rng.uniform(0, 2 * np.pi)
        total += np.sin(2 * np.pi / length * (np.cos(angle) * x + np.sin(angle) * y) + phase)
    return np.clip(128 + 22 * total, 0, 255)


def motion(kind, size=SIZE):
    """float64 [H, W, 2], (x, y) in pixels: where each pixel comes from."""
    y, x = np.mgrid[: size[0], : size[1]].astype(np.float64)
    x0, y0 = x - (size[1] - 1) / 2, y - (size[0] - 1) / 2
    return {
        "none": np.zeros((*size, 2)),
        "part of a pixel": np.full((*size, 2), (0.3, -0.45)),
        "shift": np.full((*size, 2), (2.6, -1.7)),
        "far": np.full((*size, 2), (-5.3, 3.4)),
        "turn": np.stack([-0.06 * y0, 0.06 * x0], axis=-1),
        "zoom": np.stack([0.08 * x0, 0.08 * y0], axis=-1),
        "bend": np.stack([1.5 * np.sin(y / 12), 1.2 * np.cos(x / 15)], axis=-1),
    }[kind]


def moved(flow):
    """The frame whose pixels come from `flow`, uint8 [H, W]."""
    y, x = np.mgrid[: flow.shape[0], : flow.shape[1]]
    return np.rint(waves(x + flow[..., 0], y + flow[..., 1])).astype(np.uint8)


def frames(*flows, channels=3):
    """uint8 [F, H, W, C]; the motion of each frame is that from the first one."""
    sequence = np.stack([moved(0 * flows[0]), *(moved(flow) for flow in flows)])
    return np.repeat(sequence[..., None], channels, axis=-1)


def seen(flow):
    """bool: pixels that come from inside of the frame."""
    y, x = np.mgrid[: flow.shape[0], : flow.shape[1]]
    x, y = x + flow[..., 0], y + flow[..., 1]
    return (x >= 0) & (y >= 0) & (x <= flow.shape[1] - 1) & (y <= flow.shape[0] - 1)


def end_point_error(got, flow):
    return float(np.linalg.norm(got - flow, axis=-1)[seen(flow)].mean())


@functools.cache
def compiled(args):
    """One program for calls with the same arguments and sizes."""
    return jax.jit(lambda *inputs: pure_call(optical_flow, inputs, dict(args), layout="FHWC"))


def computed(*inputs, **args):
    args = {"output_grid": 1} | args
    return np.asarray(compiled(tuple(sorted(args.items())))(*inputs))


# Mean end-point errors in pixels: measured ones, with a third to spare; and by how much they may be above Farnebäck's,
# which sums over more pixels, so that it is better where all of them move alike.
LIMITS = {
    "none": (1e-3, 0.0), "part of a pixel": (0.05, 0.03), "shift": (0.05, 0.03), "far": (0.06, 0.0),
    "turn": (0.14, 0.0), "zoom": (0.16, 0.0), "bend": (0.15, 0.0),
}  # fmt: skip


@pytest.mark.parametrize("kind", LIMITS)
def test_end_point_error(kind):
    """Below its limit, and beside Farnebäck's with OpenCV's usual arguments (5 levels, windows of 15)."""
    flow, (limit, above) = motion(kind), LIMITS[kind]
    sequence = frames(flow)
    found = end_point_error(computed(sequence)[0], flow)
    assert found < limit
    cv2 = pytest.importorskip("cv2", reason="OpenCV is not installed")
    reference = cv2.calcOpticalFlowFarneback(
        sequence[1, ..., 0], sequence[0, ..., 0], None, 0.5, 5, 15, 3, 5, 1.2, 0
    )
    assert found <= end_point_error(reference, flow) + above


@pytest.mark.parametrize(("preset", "factor"), [(0.5, 2), (1.0, 4)])
def test_presets_trade_a_little_accuracy(preset, factor):
    flow = motion("turn")
    fast = computed(frames(flow), preset=preset, output_grid=2)[0]
    cells = flow.reshape(36, 2, 45, 2, 2).mean(axis=(1, 3))
    assert np.linalg.norm(fast - cells, axis=-1)[2:-2, 2:-2].mean() < factor * LIMITS["turn"][0]


@pytest.mark.parametrize("grid", [2, 4])
def test_cells_are_means_of_pixels(grid):
    """Also those that the border cuts: 50 is no multiple of 4."""
    sequence = frames(motion("bend", (33, 50)))
    pixels = computed(sequence)[0].astype(np.float64)
    padded = np.full((36, 52, 2), np.nan)
    padded[:33, :50] = pixels
    rows, columns = -(-33 // grid), -(-50 // grid)
    cells = padded[: rows * grid, : columns * grid].reshape(rows, grid, columns, grid, 2)
    np.testing.assert_allclose(
        computed(sequence, output_grid=grid)[0], np.nanmean(cells, axis=(1, 3)), atol=1e-5
    )


def test_each_frame_is_compared_with_the_one_before():
    first, second = motion("shift"), motion("part of a pixel")
    flows = computed(frames(first, first + second))
    assert flows.shape == (2, *SIZE, 2)
    assert end_point_error(flows[0], first) < LIMITS["shift"][0]
    assert end_point_error(flows[1], second) < 2 * LIMITS["part of a pixel"][0]


@pytest.mark.parametrize("grid", [1, 4, 8])
def test_hints_find_what_is_too_far(grid):
    """A displacement of half the frame: without a hint the search ends elsewhere."""
    flow = np.full((*SIZE, 2), (41.0, 0.0))
    sequence = frames(flow)
    cells = (2, -(-SIZE[0] // grid), -(-SIZE[1] // grid), 2)
    hints = np.full(cells, (38.0, 1.0), np.float32)
    without = computed(sequence)
    with_hints = computed(sequence, hints, hint_grid=grid, enable_external_hints=True)
    # Nine pixels inside, for there is nothing to compare with beyond the border.
    inner = (slice(9, -9), slice(9, 40))
    assert np.linalg.norm(np.asarray(with_hints)[0][inner] - flow[inner], axis=-1).mean() < 0.3
    assert np.linalg.norm(np.asarray(without)[0][inner] - flow[inner], axis=-1).mean() > 10


def test_temporal_hints_follow_a_motion_that_grows():
    """By 9 pixels a frame: each flow begins at the last one."""
    step = np.full((*SIZE, 2), (9.0, 0.0))
    sequence = frames(step, 3 * step, 6 * step)
    inner = (slice(9, -9), slice(9, 50))
    last = [computed(sequence, enable_temporal_hints=hints)[2][inner] for hints in (True, False)]
    errors = [np.linalg.norm(flow - 3 * step[inner], axis=-1).mean() for flow in last]
    assert errors[0] < 0.5 < errors[1]


def test_colours():
    """Channels count as they do in a grey picture; BGR is RGB the other way round."""
    rng = np.random.default_rng(0)
    flow = motion("shift", (40, 44))
    mixed = np.rint(frames(flow) * rng.uniform(0.5, 1, 3)).astype(np.uint8)
    rgb = computed(mixed)
    np.testing.assert_array_equal(computed(mixed[..., ::-1].copy(), image_type=types.BGR), rgb)
    grey = np.rint(mixed @ [0.299, 0.587, 0.114]).astype(np.uint8)[..., None]
    np.testing.assert_allclose(computed(grey, image_type=types.GRAY), rgb, atol=0.1)


@pytest.mark.exhaustive  # laws/test_every_operator has it of every operator
def test_padding_layouts_and_batches():
    """The same bits, whatever the padding, in ragged batches, for pictures smaller than the coarsest level."""
    args = {"output_grid": 2, "preset": 1.0}
    samples = [frames(motion("turn", (17, 22)), motion("shift", (17, 22))), frames(motion("turn", (5, 9)))]
    expected = [[computed(s, **args) for s in samples]]
    # 2e-3: products and sums that one program fuses and another does not decide where a search ends.
    contract.check(
        optical_flow, [samples], args, layout="FHWC", expected=expected, atol=2e-3, compiled_atol=2e-3
    )
    planes = np.ascontiguousarray(samples[1].transpose(0, 3, 1, 2))
    pixels = np.asarray(contract.pure(optical_flow, [planes], args, layout="FCHW")).transpose(0, 2, 3, 1)
    np.testing.assert_allclose(pixels, expected[0][1], atol=2e-3)


def test_a_single_pixel():
    np.testing.assert_array_equal(
        computed(frames(motion("turn", (1, 1))), preset=1.0), np.zeros((1, 1, 1, 2))
    )


@pytest.mark.exhaustive  # laws/test_every_operator has it of every operator
def test_in_a_pipeline():
    flow = motion("shift", (40, 52))
    pipe = jdali.Pipeline(batch_size=1, num_threads=1)
    with pipe:
        video = fn.external_source(lambda: [frames(flow)], layout="FHWC")
        pipe.set_outputs(fn.optical_flow(video), fn.optical_flow(video, output_format=2))
    four, two = pipe.run()
    pipe.close()
    assert four.layout() == "FHWC"
    assert (four.shape(), two.shape()) == ([(1, 10, 13, 2)], [(1, 20, 26, 2)])
    middle = np.asarray(four.as_cpu().at(0))[0, 3:-3, 3:-3]
    assert np.abs(middle - flow[0, 0]).max() < 0.2


TWO = np.zeros((2, 8, 8, 3), np.uint8)
HINTS = np.zeros((2, 2, 2, 2), np.float32)


@pytest.mark.parametrize(
    ("inputs", "args", "text"),
    [
        ([TWO], {"output_grid": 3}, "output_grid must be one of 1, 2, 4, got 3"),
        ([TWO], {"output_format": 8}, "output_grid must be one of 1, 2, 4, got 8"),
        ([TWO], {"hint_grid": 3}, "hint_grid must be one of 1, 2, 4, 8, got 3"),
        ([TWO], {"preset": 1.5}, r"preset must be from 0 \(best\) to 1 \(fastest\), got 1.5"),
        ([TWO], {"image_type": types.YCbCr}, "image_type must be RGB, BGR or GRAY"),
        ([TWO], {"image_type": types.GRAY}, r"frames of this image_type have 1 channels, got shape \(2, 8, 8, 3\)"),
        ([TWO[:1]], {}, "a sequence must have at least 2 frames"),
        ([TWO[:, :0]], {}, "frames must have pixels"),
        ([TWO.astype(np.float32)], {}, "frames are float32, they must be uint8"),
        ([TWO], {"enable_external_hints": True}, "external hints need a second input"),
        ([TWO, HINTS], {"enable_external_hints": True, "hint_grid": 2}, r"hints of shape \(2, 2, 2, 2\), expected"),
        ([TWO, HINTS.astype(np.float16)], {"enable_external_hints": True}, "hints are float16"),
    ],
)  # fmt: skip
def test_what_is_refused(inputs, args, text):
    with pytest.raises((ValueError, TypeError), match=f"^optical_flow: {text}"):
        pure_call(optical_flow, inputs, args, layout="FHWC")


def test_frames_need_channels():
    with pytest.raises(ValueError, match="^optical_flow: frames need channels, layout FHWC, got FHW"):
        pure_call(optical_flow, [TWO[..., 0]], {"image_type": types.GRAY}, layout="FHW")
