"""Batches and tensors: where samples lie must never show, and all that DALI's own do works the same."""

from __future__ import annotations

import ctypes
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from support import odd_sizes, oracle

import jdali
import jdali.types as types
from jdali._batches.extent import BatchSpec
from jdali._batches.store import PaddedBlock, Store
from jdali._errors import TracedArgumentError
from jdali._system.devices import host_device
from jdali.tensors import (
    RowSlice,
    Tensor,
    TensorCPU,
    TensorGPU,
    TensorList,
    TensorListCPU,
    TensorListGPU,
)

EXTENTS = np.array([[2, 3], [4, 1], [3, 3], [1, 1], [0, 2]])


def samples(dtype: Any = np.uint8) -> list[np.ndarray]:
    return [(np.arange(h * w).reshape(h, w) + 10 * i).astype(dtype) for i, (h, w) in enumerate(EXTENTS)]


def from_parts(
    parts: list[RowSlice], spec: BatchSpec, device: str = "cpu", names: list[str] | None = None
) -> TensorList:
    return TensorList.from_store(Store.of_parts(parts, spec), device, names)


def parts_of(values: list[np.ndarray], to: Any = jnp.asarray, fill: int = 77) -> list[RowSlice]:
    """Samples 0, 2, 4 in the rows 2, 0, 1 of one array, 1 and 3 in rows 0 and 2 of another."""
    dtype = values[0].dtype
    first, second = np.full((4, 4, 4), fill, dtype), np.full((3, 5, 3), fill, dtype)
    for array, rows, positions in ((first, (2, 0, 1), (0, 2, 4)), (second, (0, 2), (1, 3))):
        for row, position in zip(rows, positions, strict=True):
            array[row][tuple(map(slice, values[position].shape))] = values[position]
    return [
        RowSlice(to(first), np.array([2, 0, 1]), np.array([0, 2, 4])),
        RowSlice(to(second), np.array([0, 2]), np.array([1, 3])),
    ]


def ragged(kind: str = "parts", device: str = "cpu", dtype: Any = np.uint8) -> TensorList:
    values, names = samples(dtype), list("abcde")
    if kind == "samples":
        return TensorList.from_samples(values, "HW", device, names)
    to = np.asarray if kind == "numpy parts" else jnp.asarray
    return from_parts(parts_of(values, to), BatchSpec(EXTENTS, dtype, "HW"), device, names)


KINDS = ["parts", "numpy parts", "samples"]


def same(batch: TensorList, expected: list[np.ndarray]) -> None:
    assert len(batch) == len(expected)
    assert batch.shape() == [e.shape for e in expected]
    for i, want in enumerate(expected):
        got = batch.to_samples()[i]
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)
        np.testing.assert_array_equal(np.asarray(batch[i]), want)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_samples_come_back_in_their_true_sizes(kind: str, device: str) -> None:
    batch = ragged(kind, device)
    same(batch, samples())
    assert (batch.layout(), batch.ndim(), batch.dtype) == ("HW", 2, types.UINT8)
    assert batch.source_info() == list("abcde")
    assert [t.source_info() for t in batch] == list("abcde")
    assert not batch.is_dense_tensor()
    assert batch.spec.extents.tolist() == EXTENTS.tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_kind_of_the_batch_and_its_samples(kind: str) -> None:
    cpu, gpu = ragged(kind), ragged(kind, "gpu")
    assert isinstance(cpu, TensorListCPU)
    assert isinstance(gpu, TensorListGPU)
    assert not isinstance(gpu, TensorListCPU)
    assert isinstance(cpu[0], TensorCPU)
    assert isinstance(gpu[0], TensorGPU)
    assert isinstance(cpu.at(0), np.ndarray)
    assert isinstance(gpu.at(0), TensorGPU)
    assert isinstance(gpu.as_cpu(), TensorListCPU)
    assert cpu.as_cpu() is cpu
    same(gpu.as_cpu(), samples())
    assert gpu.as_cpu().source_info() == list("abcde")


@pytest.mark.parametrize("kind", KINDS)
def test_padded_holds_every_sample_and_its_size(kind: str) -> None:
    batch = ragged(kind)
    array, extents = batch.padded()
    assert isinstance(array, jax.Array)
    assert array.shape == (5, 4, 3) if kind == "samples" else (5, 5, 4)
    assert extents.dtype == np.int32
    assert extents.tolist() == EXTENTS.tolist()
    for i, (h, w) in enumerate(EXTENTS):
        np.testing.assert_array_equal(array[i, :h, :w], samples()[i])
    assert batch.padded()[0] is array


def test_parts_must_hold_every_sample_once() -> None:
    spec = BatchSpec(EXTENTS, np.uint8)
    first, second = parts_of(samples())
    with pytest.raises(ValueError, match="hold 3 samples, not each of the 5"):
        from_parts([first], spec)
    with pytest.raises(ValueError, match="not each of the 5"):
        from_parts([first, second._replace(samples=np.array([1, 0]))], spec)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("indices", [[3, 0], [4], [2, 2, 1], [], [4, 3, 2, 1, 0]])
def test_select_takes_samples_in_any_order(kind: str, indices: list[int]) -> None:
    chosen = ragged(kind).select(indices)
    same(chosen, [samples()[i] for i in indices])
    assert chosen.source_info() == [list("abcde")[i] for i in indices]
    assert isinstance(chosen, TensorListCPU)
    array, extents = chosen.padded()
    for i, want in enumerate(indices):
        np.testing.assert_array_equal(array[i][tuple(map(slice, extents[i]))], samples()[want])


def test_slices_are_batches() -> None:
    same(ragged()[1:4], samples()[1:4])
    same(ragged()[::-2], samples()[::-2])


@pytest.mark.parametrize("kinds", [("parts", "parts"), ("samples", "samples"), ("parts", "samples")])
def test_merge_is_the_opposite_of_select(kinds: tuple[str, str]) -> None:
    """Every way to split five samples in two."""
    for mask in range(32):
        true = [i for i in range(5) if mask >> i & 1]
        false = [i for i in range(5) if not mask >> i & 1]
        merged = TensorList.merge(
            [ragged(kinds[0]).select(true), ragged(kinds[1]).select(false)], [true, false]
        )
        same(merged, samples())
        assert merged.source_info() == list("abcde")


def test_splitting_and_merging_touches_no_data() -> None:
    dense = jnp.arange(24.0).reshape(4, 6)
    batch = TensorList.from_dense(dense)
    merged = TensorList.merge([batch.select([1, 3]), batch.select([0, 2])], [[1, 3], [0, 2]])
    assert merged.as_jax() is dense


def test_concat_one_after_another_and_in_an_order() -> None:
    one, two = ragged().select([0, 1]), ragged("samples").select([2, 3, 4])
    same(TensorList.concat([one, two]), samples())
    same(TensorList.concat([one, two], [4, 0, 2]), [samples()[i] for i in (4, 0, 2)])
    empty = TensorList.from_samples([])
    same(TensorList.concat([empty, one]), samples()[:2])
    assert len(TensorList.concat([empty, empty])) == 0


@pytest.mark.parametrize(
    ("other", "found"),
    [
        (TensorListCPU(np.zeros((1, 2, 2), np.int8), "HW"), "distinct types: uint8 and int8"),
        (TensorListCPU(np.zeros((1, 2), np.uint8), "H"), "distinct sample dimensions: 2 and 1"),
        (TensorListCPU(np.zeros((1, 2, 2), np.uint8), "WH"), 'distinct layouts: "HW" and "WH"'),
    ],
)
def test_merging_what_does_not_fit(other: TensorList, found: str) -> None:
    with pytest.raises(RuntimeError, match=f"Divergent data found .* Found {found}"):
        TensorList.concat([ragged(), other])


DENSE = np.arange(24, dtype=np.int16).reshape(2, 3, 4)


def dense_batches() -> list[TensorList]:
    padded = np.full((3, 5, 6), -1, np.int16)
    padded[[2, 0], :3, :4] = DENSE
    spec = BatchSpec(np.array([[3, 4]] * 2), np.int16, "HW")
    made = []
    for device in ("cpu", "gpu"):
        for to in (np.asarray, jnp.asarray):
            part = RowSlice(to(padded), np.array([2, 0]), np.array([0, 1]))
            made.append(from_parts([part], spec, device))
            made.append(TensorList.from_dense(to(DENSE), "HW", device))
            made.append(TensorList.from_samples([to(s) for s in DENSE], "HW", device))
    return made


@pytest.mark.parametrize("batch", dense_batches())
def test_dense(batch: Any) -> None:
    assert batch.is_dense_tensor()
    assert isinstance(batch.as_jax(), jax.Array)
    whole = batch.as_tensor()
    assert (whole.layout(), whole.shape(), whole.device) == ("NHW", [2, 3, 4], batch.device)
    reshaped = batch.as_reshaped_tensor((6, 2, 2))
    assert (reshaped.layout(), reshaped.shape()) == ("NHW", [6, 2, 2])
    assert batch.as_reshaped_tensor([24]).layout() == ""
    for value in (batch.as_jax(), whole, jnp.asarray(batch), np.asarray(batch), np.from_dlpack(batch),
                  jnp.from_dlpack(batch), jnp.asarray(whole), batch.as_cpu().as_array()):  # fmt: skip
        np.testing.assert_array_equal(np.asarray(value), DENSE)
    np.testing.assert_array_equal(np.asarray(reshaped), DENSE.reshape(6, 2, 2))
    with pytest.raises(
        RuntimeError,
        match="requested shape need to have the same volume as the batch, requested: 5 expected: 24",
    ):
        batch.as_reshaped_tensor([5])


def test_dense_values_are_not_copied() -> None:
    on_device, on_host = jnp.asarray(DENSE), DENSE
    assert TensorList.from_dense(on_device).as_jax() is on_device
    assert TensorList.from_dense(on_device).padded()[0] is on_device
    for array, address in ((on_device, on_device.unsafe_buffer_pointer()), (on_host, on_host.ctypes.data)):
        batch = TensorListCPU(array)
        assert batch.as_array().ctypes.data == address
        assert batch.data_ptr() == address
        assert batch.at(1).ctypes.data == address + 24


@pytest.mark.parametrize("batch", dense_batches())
def test_whoever_asks_gets_rows_without_gaps(batch: Any) -> None:
    """The padding between the rows of a program's result is nobody's business: DALI's batches have none."""
    host = batch.as_cpu()
    for value in (batch, batch.as_tensor(), host.as_array(), batch.as_numpy(), np.from_dlpack(batch.as_tensor()),
                  np.from_dlpack(batch), jnp.from_dlpack(batch.as_tensor()), batch.as_tensor().as_cpu(),
                  batch.as_reshaped_tensor([24])):  # fmt: skip
        assert np.asarray(value).flags.c_contiguous
        np.testing.assert_array_equal(np.asarray(value).ravel(), DENSE.ravel())
    for i, sample in enumerate(DENSE):
        for value in (
            batch[i],
            host.at(i),
            batch.to_samples()[i],
            np.from_dlpack(batch[i]),
            batch[i].as_cpu(),
        ):
            assert np.asarray(value).flags.c_contiguous
            np.testing.assert_array_equal(np.asarray(value), sample)


@pytest.mark.parametrize("device", ["cpu", "gpu"])
@pytest.mark.parametrize("sizes", [odd_sizes.UNIFORM, odd_sizes.RAGGED])
def test_results_of_programs_have_no_gaps(sizes: Any, device: str) -> None:
    with odd_sizes.flipping(sizes, device=device) as pipe:
        (batch,) = pipe.run()
        assert (32, 32, 3) in {b.array.shape[1:] for b in batch.store.blocks}  # padded, or this shows nothing
    expected = odd_sizes.flipped(sizes)
    for i, want in enumerate(expected):
        for value in (batch[i], batch.as_cpu().at(i), np.from_dlpack(batch[i])):
            assert np.asarray(value).flags.c_contiguous
            np.testing.assert_array_equal(np.asarray(value), want)
        tensor = batch.as_cpu()[i]
        assert tensor.__array_interface__["strides"] is None  # row-major
        assert (ctypes.c_uint8 * want.size).from_address(tensor.data_ptr())[:] == want.ravel().tolist()


def test_a_padded_batch_is_put_together_once() -> None:
    spec = BatchSpec(np.array([[3, 4]] * 2), np.int16, "HW")
    padded = np.full((2, 5, 6), -1, np.int16)
    padded[:, :3, :4] = DENSE
    batch = TensorList.from_store(Store.of_block(PaddedBlock(padded), spec))
    address = batch.as_array().ctypes.data
    assert batch.as_array().ctypes.data == batch.as_tensor().data_ptr() == address
    assert batch.padded()[0].shape == (2, 5, 6)  # as if nobody had asked
    assert batch.data_ptr() == address
    assert batch.at(1).ctypes.data == address + 24
    batch.reinterpret(np.uint16)
    assert batch.as_array().dtype == np.uint16
    batch.reset()
    assert len(batch.as_array()) == 0


def test_what_users_give_in_other_orders() -> None:
    """DALI refuses arrays with strides; here they are brought into order."""
    turned = DENSE.transpose(0, 2, 1)
    for batch in (TensorListCPU(turned), TensorListCPU(list(turned))):
        for value in (batch.as_array(), np.asarray(batch), np.asarray(batch.as_tensor())):
            assert value.flags.c_contiguous
            np.testing.assert_array_equal(value, turned)
        assert batch.at(0).flags.c_contiguous
    tensor = TensorCPU(turned)
    assert np.asarray(tensor).flags.c_contiguous
    assert tensor.__array_interface__["strides"] is None


@pytest.mark.parametrize("name", ["as_array", "as_jax", "as_tensor", "__array__"])
def test_ragged_has_no_dense_form(name: str) -> None:
    with pytest.raises(RuntimeError, match=r"\(0, 2\), \(1, 1\), \(2, 3\), \(3, 3\), \.\.\..*Pad or crop"):
        getattr(ragged(), name)()


@pytest.mark.parametrize("device", ["cpu", "gpu"])
@pytest.mark.parametrize("dtype", [np.uint8, np.int64])
def test_ragged_batches_are_joined_element_by_element(device: str, dtype: Any) -> None:
    batch, flat = ragged("samples", device, dtype), np.concatenate([s.ravel() for s in samples(dtype)])
    whole = batch.as_reshaped_tensor([flat.size])
    assert (whole.device, whole.dtype, whole.layout()) == (device, batch.dtype, "")
    np.testing.assert_array_equal(np.asarray(whole), flat)
    values = (ctypes.c_uint8 * flat.nbytes).from_address(batch.data_ptr())
    assert bytes(values) == flat.tobytes()
    assert batch.data_ptr() == batch.data_ptr()
    with pytest.raises(RuntimeError, match=f"same volume as the batch, requested: 5 expected: {flat.size}"):
        batch.as_reshaped_tensor([5])


@pytest.mark.oracle
def test_empty_lists_equal_dali() -> None:
    for module in (jdali, oracle.dali()):
        batch = module.tensors.TensorListCPU([], "HWC")
        assert (batch.layout(), batch.ndim(), len(batch), str(batch.dtype)) == (
            "HWC",
            3,
            0,
            "DALIDataType.NO_TYPE",
        )
        assert module.tensors.TensorListCPU([]).as_array().dtype == np.float32
        for view in (batch.as_tensor, lambda batch=batch: batch.as_reshaped_tensor([0])):
            with pytest.raises(RuntimeError, match="the batch must have a valid data type"):
                view()
        typed = module.tensors.TensorListCPU(np.zeros((0, 2), np.uint8))
        assert str(typed.as_tensor().dtype) == "DALIDataType.UINT8"
        assert typed.as_reshaped_tensor([0, 3]).shape() == [0, 3]


@pytest.mark.oracle
def test_ragged_batches_are_joined_as_in_dali() -> None:
    lists = [np.arange(6).reshape(2, 3), np.arange(3).reshape(1, 3)]
    theirs = oracle.dali().tensors.TensorListCPU(lists).as_reshaped_tensor([9])
    np.testing.assert_array_equal(np.array(TensorListCPU(lists).as_reshaped_tensor([9])), np.array(theirs))


def test_indices() -> None:
    batch: Any = ragged()
    np.testing.assert_array_equal(np.asarray(batch[-2]), samples()[3])
    for i in (5, -6):
        with pytest.raises(IndexError, match="TensorListCPU index out of range"):
            batch[i]
    for i in (5, -1):
        with pytest.raises(IndexError, match="out of range for 5 samples"):
            batch.at(i)
    for i in (1.5, True, "1", None, [0, 1], np.True_):
        with pytest.raises(TypeError, match="TensorListCPU: .* is not the position of a sample"):
            batch[i]
    for pick in (batch.as_cpu().at, batch.to_device("gpu").at):
        for i in (1.5, True, "1", None, slice(0, 2), np.True_):
            with pytest.raises(TypeError, match=r"TensorList[CG]PU.at: .* is not the position of a sample"):
                pick(i)
        with pytest.raises(TracedArgumentError, match=r"TensorList[CG]PU.at: .* index jnp.asarray\(batch\)"):
            jax.jit(pick)(0)
        np.testing.assert_array_equal(np.asarray(pick(np.int64(1))), samples()[1])
    with pytest.raises(TracedArgumentError, match=r"TensorListCPU: .* index jnp.asarray\(batch\) there"):
        jax.jit(lambda i: batch[i])(0)


def test_the_advice_for_a_mask_works_and_only_a_mask_gets_it() -> None:
    batch: Any = ragged()
    mask = np.array([True, False, True, False, False])
    for one in (True, np.True_, mask, jnp.asarray(mask)):
        with pytest.raises(TypeError) as caught:
            batch[one]
        advice = str(caught.value).partition("for a mask, take ")[2]
        taken = eval(advice, {"np": np, "batch": batch, "mask": mask})
        for sample, i in zip(taken, (0, 2), strict=True):
            np.testing.assert_array_equal(np.asarray(sample), samples()[i])
    for other in (1.5, "1", None, [0, 1], np.array([0, 1])):
        with pytest.raises(TypeError, match="it must be an integer$"):
            batch[other]


def test_padding_never_shows_whatever_it_holds() -> None:
    spec = BatchSpec(EXTENTS, np.uint8)
    texts = {str(from_parts(parts_of(samples(), fill=fill), spec)) for fill in (0, 255)}
    assert len(texts) == 1


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.float64])
@pytest.mark.parametrize("kind", ["numpy parts", "samples"])
def test_64_bit_values_keep_their_type(kind: str, dtype: Any) -> None:
    """Without `jax_enable_x64`, JAX would narrow them."""
    batch = ragged(kind, "cpu", dtype)
    same(batch, samples(dtype))
    assert batch.padded()[0].dtype == dtype
    big = np.array([[2**60 + 1], [2**53 + 1]], np.int64)
    for device in ("cpu", "gpu"):
        labels = TensorList.from_dense(big, "", device)
        assert labels.as_jax().dtype == np.int64
        assert np.asarray(labels.as_jax()).tolist() == big.tolist()
        assert np.asarray(labels[1]).tolist() == [2**53 + 1]
    assert np.asarray(TensorListGPU(big)[0]).tolist() == [2**60 + 1]


@pytest.mark.parametrize(
    "dtype", [np.bool_, np.uint8, np.int8, np.uint16, np.int32, np.uint32, np.float16, np.float32]
)
def test_element_types(dtype: Any) -> None:
    for kind in KINDS:
        same(ragged(kind, "cpu", dtype), samples(dtype))
    assert types.to_numpy_type(ragged("parts", "cpu", dtype).dtype) is dtype


def test_scalars() -> None:
    for batch in (
        TensorListCPU(np.arange(3, dtype=np.int32)),
        TensorList.from_dense(jnp.arange(3)),
        TensorList.from_samples([np.array(i, np.int32) for i in range(3)]),
    ):
        assert batch.shape() == [(), (), ()]
        assert isinstance(batch.at(1), np.ndarray)
        assert batch.at(1) == 1
        assert (batch.as_tensor().layout(), batch.as_tensor().shape()) == ("N", [3])
        assert batch.select([2, 0]).as_array().tolist() == [2, 0]


def test_empty() -> None:
    for batch in (TensorListCPU([]), TensorList.from_samples([]), TensorListGPU()):
        assert (len(batch), batch.shape(), list(batch), batch.dtype) == (0, [], [], types.NO_TYPE)
        for array in (batch.as_cpu().as_array(), batch.as_jax(), batch.padded()[0]):
            assert (np.asarray(array).dtype, np.asarray(array).shape) == (np.float32, (0,))
    for batch in (TensorListCPU([], "HWC"), TensorListGPU([], "HWC")):
        assert (len(batch), batch.layout(), batch.ndim(), batch.dtype) == (0, "HWC", 3, types.NO_TYPE)
    spec = BatchSpec(np.zeros((0, 2)), np.uint8, "HW")
    for batch in (TensorList.from_samples([], spec=spec), from_parts([], spec)):
        assert batch.padded()[0].shape == (0, 0, 0)
        assert batch.as_array().shape == (0, 0, 0)
        assert (batch.layout(), batch.dtype) == ("HW", types.UINT8)
    batch = ragged()
    batch.reset()
    assert len(batch) == 0


def test_made_by_users() -> None:
    values = [np.zeros((2, 3), np.float32), np.ones((3, 3), np.float32)]
    tensors = [TensorCPU(v, "HW") for v in values]
    for given in (values, tensors, [jnp.asarray(v) for v in values]):
        same(TensorListCPU(given, layout="XY"), values)
        same(TensorListGPU(given, layout="XY"), values)
        assert TensorListCPU(list_of_tensors=given, layout="XY").layout() == "XY"
    assert TensorListCPU(tensors).layout() == "HW"
    assert TensorListCPU(TensorListCPU(tensors)).layout() == "HW"
    assert TensorListCPU(tl=TensorListCPU(tensors), layout="AB").layout() == "AB"
    same(TensorListCPU(b=np.stack([values[0]] * 2)), [values[0]] * 2)
    same(TensorListCPU.from_dlpack_list(values, layout="HW"), values)
    same(TensorListGPU.from_dlpack_list(values), values)
    same(TensorListCPU.broadcast(TensorCPU(values[0], "HW"), 3), [values[0]] * 3)
    same(TensorListGPU.broadcast(TensorGPU(values[0]), 2), [values[0]] * 2)


def test_wrong_data() -> None:
    with pytest.raises(TypeError, match="position 1 has type 'int32' expected to have type 'float64'"):
        TensorListCPU([np.zeros(3), np.zeros(3, np.int32)])
    with pytest.raises(TypeError, match="position 1 has 2, expected 1"):
        TensorListCPU([np.zeros(3), np.zeros((3, 1))])
    with pytest.raises(TypeError, match="different layouts, got A, B"):
        TensorListCPU([TensorCPU(np.zeros(3), "A"), TensorCPU(np.zeros(3), "B")])
    with pytest.raises(ValueError, match=r"dimensions of the TensorList.\nGot: 3 \(HWC\)\nExpected: 1\."):
        TensorListCPU(np.zeros((2, 3)), "HWC")
    with pytest.raises(ValueError, match=r"dimensions of the Tensor.\nGot: 2 \(HW\)\nExpected: 1\."):
        TensorCPU(np.zeros(3), "HW")
    with pytest.raises(TypeError, match="int is not an array"):
        TensorListCPU(3)
    with pytest.raises(RuntimeError, match="Cannot create TensorList from 0-dim array"):
        TensorListCPU(np.float32(3))
    with pytest.raises(TypeError, match="give one of"):
        TensorListCPU(np.zeros((1, 1)), b=np.zeros((1, 1)))


def test_set_layout() -> None:
    batch = ragged()
    batch.set_layout("AB")
    assert (batch.layout(), batch[0].layout(), batch.select([0]).layout()) == ("AB", "AB", "AB")
    assert batch.spec.layout == "AB"
    batch.set_layout("")
    assert batch.layout() == ""
    with pytest.raises(ValueError, match="Expected: 2"):
        batch.set_layout("HWC")


def test_reinterpret() -> None:
    for to in (np.asarray, jnp.asarray):
        batch = TensorList.from_dense(to(np.array([[-1, 1]], np.int8)))
        batch.reinterpret(types.UINT8)
        assert batch.dtype == types.UINT8
        assert batch.as_array().tolist() == [[255, 1]]
        tensor = TensorCPU(to(np.float32([1, 2])))
        tensor.reinterpret(types.UINT32)
        assert np.asarray(tensor).tolist() == [0x3F800000, 0x40000000]
    with pytest.raises(
        RuntimeError, match="having a different element size: int8 has 1 bytes an element, float32 4"
    ):
        TensorListCPU(np.zeros((1, 1), np.int8)).reinterpret(types.FLOAT)


def test_copy_to_external() -> None:
    out = np.zeros(22, np.uint8)
    for batch in (ragged(), ragged("samples", "gpu")):
        out[:] = 0
        batch.copy_to_external(out.ctypes.data)
        np.testing.assert_array_equal(out[:20], np.concatenate([s.ravel() for s in samples()]))
        assert out[20:].tolist() == [0, 0]
        out[:] = 0
        batch[2].copy_to_external(ctypes.c_void_p(out.ctypes.data))
        np.testing.assert_array_equal(out[:9], samples()[2].ravel())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("device", ["cpu", "gpu"])
def test_a_tensor_goes_anywhere(kind: str, device: str) -> None:
    for i, want in enumerate(samples()[:4]):
        tensor = ragged(kind, device)[i]
        for value in (
            np.asarray(tensor),
            np.array(tensor, np.float32),
            np.from_dlpack(tensor),
            jnp.asarray(tensor),
            jnp.from_dlpack(tensor),
            tensor.as_cpu(),
            jax.jit(lambda t: jnp.asarray(t) + 0)(tensor),
            TensorCPU(tensor),
            TensorGPU(tensor),
        ):
            np.testing.assert_array_equal(np.asarray(value), want)
        at = (ctypes.c_uint8 * want.size).from_address(tensor.data_ptr())
        assert list(at) == want.ravel().tolist()
        assert tensor.__dlpack_device__()[0] == 1


def test_a_tensor_goes_to_torch() -> None:
    torch = pytest.importorskip("torch")
    for batch in (ragged(), ragged("samples"), ragged("parts", "gpu")):
        np.testing.assert_array_equal(torch.from_dlpack(batch[0]).numpy(), samples()[0])


def test_a_tensor_tells_of_itself() -> None:
    tensor = ragged()[0]
    assert isinstance(tensor, Tensor)
    assert (tensor.shape(), tensor.ndim(), tensor.layout(), tensor.dtype) == ([2, 3], 2, "HW", types.UINT8)
    assert tensor.get_property("layout") == "HW"
    assert tensor.get_property("source_info") == "a"
    assert tensor.get_property("else") is None
    assert TensorCPU(np.zeros(2)).get_property("layout") is None
    assert TensorGPU(jnp.zeros(2)).device_id() == 0
    assert TensorGPU(jnp.zeros(2), device_id=0).device_id() == 0
    assert TensorListGPU(jnp.zeros((2, 2))).device_id() == 0
    assert TensorGPU(jnp.zeros(2)).stream is None
    assert not hasattr(TensorGPU(jnp.zeros(2)), "__cuda_array_interface__")
    assert tensor.__array_interface__["shape"] == (2, 3)


def test_squeeze() -> None:
    tensor = TensorCPU(np.arange(6).reshape(1, 6, 1), "HWC")
    assert tensor.squeeze(-1)
    assert (tensor.shape(), tensor.layout()) == ([1, 6], "HW")
    assert not tensor.squeeze(1)
    assert tensor.squeeze()
    assert (tensor.shape(), tensor.layout()) == ([6], "W")
    assert not tensor.squeeze()
    with pytest.raises(RuntimeError, match="axis 1 is out of bound for a tensor with 1 dimensions"):
        tensor.squeeze(1)


@pytest.mark.parametrize("there", [False, True])
def test_padding_of_a_batch_is_zero(accelerator: jax.Device, there: bool) -> None:
    """Also where a program left something there, and in either position."""
    blocks = [np.full((2, 3, 5), 9, np.float32), np.full((1, 4, 2), np.nan, np.float32)]
    sizes = np.array([[2, 5], [4, 1], [3, 4]])
    arrays = [jax.device_put(b, accelerator if there else host_device()) for b in blocks]
    parts = [
        RowSlice(arrays[0], np.array([1, 0]), np.array([0, 2])),
        RowSlice(arrays[1], np.array([0]), np.array([1])),
    ]
    batch = from_parts(parts, BatchSpec(sizes, np.float32), "gpu" if there else "cpu")
    padded, extents = batch.padded()
    assert (padded.devices() == {accelerator}) == there
    np.testing.assert_array_equal(extents, sizes)
    for row, (height, width), value in zip(np.asarray(padded), sizes, [9, np.nan, 9], strict=True):
        assert row.shape == (4, 5)
        np.testing.assert_array_equal(row[:height, :width], np.full((height, width), value, np.float32))
        assert not row[height:].any()
        assert not row[:, width:].any()


def test_a_batch_under_vmap_is_one_sample() -> None:
    batch = TensorListCPU([np.full(n, n, np.float32) for n in (2, 5)], layout="A")

    def mean(sample: TensorList) -> Any:
        values, size = sample.padded()
        assert (sample.layout(), values.shape, size.shape) == ("A", (5,), (1,))
        return values.sum() / size[0]

    np.testing.assert_array_equal(jax.jit(jax.vmap(mean))(batch), [2, 5])


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_is_a_pytree(kind: str) -> None:
    traces = []

    @jax.jit
    def total(batch: TensorList) -> Any:
        traces.append(repr(batch))
        assert (batch.layout(), batch.ndim(), type(batch)) == ("HW", 2, TensorListCPU)
        array, extents = batch.padded()
        rows = jnp.arange(array.shape[1])[None, :, None] < extents[:, 0, None, None]
        cols = jnp.arange(array.shape[2])[None, None, :] < extents[:, 1, None, None]
        return jnp.where(rows & cols, array, 0).sum(axis=(1, 2)), batch

    batch = ragged(kind)
    sums, back = total(batch)
    assert sums.tolist() == [s.sum() for s in samples()]
    same(back, samples())
    assert isinstance(back, TensorListCPU)
    same(back.select([2, 1]), [samples()[2], samples()[1]])
    total(batch.select([1, 0, 2, 3, 4]) if kind == "samples" else batch)
    assert len(traces) == 1
    assert "traced, layout='HW'" in traces[0]
    same(jax.tree.map(lambda leaf: leaf, batch), samples())


def cases(t: Any, tensor: Any) -> list[Any]:
    """Batches and tensors, made by jdali's classes or by DALI's."""
    rng = np.random.default_rng(3)
    images = [rng.random((3 + i, 2, 3), np.float32) for i in range(7)]
    return [
        t(np.arange(24, dtype=np.uint8).reshape(2, 3, 4), layout="HW"),
        t([tensor(np.arange(n, dtype=np.float32)) for n in range(40)], layout="X"),
        t(np.arange(3, dtype=np.int32)),
        t(np.zeros((1, 2), bool)),
        t([]),
        t(np.zeros((40, 3, 4, 5), np.uint8), layout="HWC"),
        t([tensor(np.zeros((100 + i, 200, 3), np.uint8)) for i in range(17)], layout="HWC"),
        t([tensor(image) for image in images]),
        t([tensor(image) for image in images[:5]], layout="HWC"),
        t([tensor(np.zeros((i, 3), np.int64)) for i in range(6)]),
        t([tensor(rng.random(200)) for i in range(6)]),
        t(np.zeros((16, 2), np.int8)),
        t(np.zeros((17, 2), np.float16)),
        t([tensor(np.array(i, np.int16)) for i in range(7)]),
        tensor(np.zeros((30, 30, 3), np.float32), "HWC"),
        tensor(np.arange(2000)),
        tensor(np.array(2.5)),
        tensor(np.zeros((0, 3))),
    ]


@pytest.mark.oracle
def test_prints_as_dali_does() -> None:
    oracle.dali()
    import nvidia.dali.tensors as dali_tensors

    theirs = cases(dali_tensors.TensorListCPU, dali_tensors.TensorCPU)
    for ours, want in zip(cases(TensorListCPU, TensorCPU), theirs, strict=True):
        assert repr(ours) == repr(want)
        assert str(ours) == str(want)
    for ours, want in zip(cases(TensorListGPU, TensorGPU), theirs, strict=True):
        assert str(ours) == str(want).replace("CPU", "GPU").replace('"cpu"', '"gpu"')


def test_prints() -> None:
    """Text written by hand, for machines without DALI."""
    assert str(ragged().select([0, 3])) == (
        "TensorListCPU(\n"
        "    [[[0 1 2]\n"
        "     [3 4 5]],\n"
        "\n"
        "    [[30]]],\n"
        "    dtype=DALIDataType.UINT8,\n"
        '    layout="HW",\n'
        '    device="cpu",\n'
        "    num_samples=2,\n"
        "    shape=[(2, 3), (1, 1)])"
    )
    assert repr(ragged("parts", "gpu")[3]) == (
        'TensorGPU(\n    dtype=DALIDataType.UINT8,\n    layout="HW",\n    device="gpu",\n    shape=(1, 1))'
    )


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["TensorCPU", "TensorListCPU", "TensorGPU", "TensorListGPU"])
def test_has_what_dali_has(name: str) -> None:
    """Everything of DALI's classes, from their own listing (a GPU is not needed for that)."""
    oracle.dali()
    import nvidia.dali.tensors as dali_tensors

    import jdali.tensors

    theirs, ours = getattr(dali_tensors, name), getattr(jdali.tensors, name)
    public = {m for m in dir(theirs) if not m.startswith("_")} - set(dir(object))
    dunder = {"__getitem__", "__len__", "__dlpack__", "__dlpack_device__", "__array_interface__"}
    optional = {"__cuda_array_interface__"}
    wanted = public | (dunder | optional) & set(dir(theirs))
    assert wanted <= set(dir(ours))


@pytest.mark.oracle
@pytest.mark.parametrize("method", ["shape", "layout", "ndim", "is_dense_tensor", "as_array", "as_tensor"])
def test_methods_agree_with_dali(method: str) -> None:
    oracle.dali()
    import nvidia.dali.tensors as dali_tensors

    theirs = cases(dali_tensors.TensorListCPU, dali_tensors.TensorCPU)
    for ours, want in zip(cases(TensorListCPU, TensorCPU), theirs, strict=True):
        if not hasattr(want, method) or len(want.shape()) == 0:
            continue
        try:
            expected = getattr(want, method)()
        except RuntimeError:  # DALI calls a list of separate tensors not dense, although it is uniform
            assert not want.is_dense_tensor()
            continue
        got = getattr(ours, method)()
        if method == "as_array":
            np.testing.assert_array_equal(got, expected)
        elif method == "as_tensor":
            assert str(got) == str(expected)
        elif method != "is_dense_tensor" or expected:
            assert got == expected
