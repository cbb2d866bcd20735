"""The text format of protocol buffers: read as Google's own library reads it, and written so that it can."""

import pytest

from jdali.plugin.triton import pbtxt

# Every way of writing that Triton's own examples use.
TEXT = r"""
# a comment
name: "a \"model\"\n"  # another
max_batch_size: 8;
input [
  { name: 'x', data_type: TYPE_FP32, dims: [ 3, -1 ] },
  { name: "y" data_type: TYPE_STRING dims: 1 }
]
output < name: "z" dims: 1 dims: 2 >
parameters: { key: "k" value: { string_value: "v" } }
version_policy { latest { num_versions: 1 } }
priority: 1.5e-3
"""


def test_read():
    read = pbtxt.read(TEXT)
    assert read["name"] == ['a "model"\n']
    assert read["max_batch_size"] == ["8"]
    assert read["input"] == [
        {"name": ["x"], "data_type": ["TYPE_FP32"], "dims": ["3", "-1"]},
        {"name": ["y"], "data_type": ["TYPE_STRING"], "dims": ["1"]},
    ]
    assert read["output"] == [{"name": ["z"], "dims": ["1", "2"]}]
    assert read["parameters"] == [{"key": ["k"], "value": [{"string_value": ["v"]}]}]
    assert read["priority"] == ["1.5e-3"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name 'x", "is not a text of a protocol buffer"),
        ("name: }", "'}' stands where a value is wanted"),
        ("a { b: 1", "'the end' stands where the name of a field is wanted"),
        ("a: [1, ", "the end of a list is missing"),
        ("a {" * 100_000, "more than 32 messages"),
    ],
)
def test_what_is_none_is_refused(text: str, message: str):
    with pytest.raises(ValueError, match=message):
        pbtxt.read(text)


def test_written():
    """protobuf's own parser reads the same values from it."""
    struct_pb2 = pytest.importorskip("google.protobuf.struct_pb2", reason="protobuf reads the text")
    text_format = pytest.importorskip("google.protobuf.text_format")
    message = {
        "fields": [
            {"key": 'quote " and \\ and \n', "value": {"number_value": 1.5}},
            {"key": "b", "value": {"bool_value": True}},
            {"key": "c", "value": {"null_value": pbtxt.EnumConstant("NULL_VALUE")}},
            {"key": "d", "value": {"list_value": {"values": [{"string_value": "x"}, {"string_value": "y"}]}}},
        ]
    }
    text = pbtxt.written(message)
    parsed = text_format.Parse(text, struct_pb2.Struct())
    assert {key: value.WhichOneof("kind") for key, value in parsed.fields.items()} == {
        'quote " and \\ and \n': "number_value",
        "b": "bool_value",
        "c": "null_value",
        "d": "list_value",
    }
    assert list(parsed["d"]) == ["x", "y"]
    assert pbtxt.read(text)["fields"][0]["key"] == ['quote " and \\ and \n']
