"""Commands that take a pipeline by its name: view, bench, doctor, index."""

import sys
import threading
import urllib.request
from pathlib import Path

import pytest
from support import viewed

from jdali import Pipeline
from jdali._threads import PhaseTimer
from jdali.cli import _named, _view, main
from jdali.profiler import Recorder

TRAIN = """
from jdali import fn, pipeline_def

@pipeline_def(batch_size=2, num_threads=1)
def training(folder, side=4):
    data, label = fn.readers.file(file_root=folder, name="reader")
    return fn.resize(fn.decoders.image(data), size=(side, side)), label

@pipeline_def(batch_size=1, num_threads=1)
def short(batches=2):
    return fn.external_source([[0.0]] * batches)

number = 3
"""


@pytest.fixture
def train(tmp_path, monkeypatch):
    """(name of a pipeline, argument that it needs)."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "train_of_test.py").write_text(TRAIN)
    (tmp_path / "data").mkdir()
    folder = viewed.folder(tmp_path / "data", broken=False)
    yield f"{tmp_path / 'train_of_test.py'}:training", f"folder={folder}"
    sys.modules.pop("train_of_test", None)


def test_values_are_literals_or_text():
    values = _named.parse_arguments(["a=1", "b=[1, 2]", "c=train/", "d='x=y'", "e=None", "f=", "g=x=y"])
    assert values == {"a": 1, "b": [1, 2], "c": "train/", "d": "x=y", "e": None, "f": "", "g": "x=y"}


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("train.py", [], "write FILE_OR_MODULE:FUNCTION"),
        ("no_such_file.py:training", [], "there is no file no_such_file.py"),
        ("no_such_package.data:training", [], "there is no module no_such_package.data"),
        ("json:no_such", [], "json has no 'no_such'"),
        ("json:dumps", ["obj"], "write NAME=VALUE"),
        ("json:dumps", ["obj=1"], "gives str, not a pipeline"),
        ("json:dumps", [], "json:dumps needs obj; give --arg obj=..."),
        ("json:JSONDecodeError", ["doc=1", "msg=2", "pso=3"], "needs pos; give --arg pos="),
        ("copy:copy", ["x=1", "xs=2"], "has no argument 'xs'; did you mean x"),
    ],
)
def test_wrong_names_say_what_to_write(name, arguments, message):
    with pytest.raises(_named.PipelineNameError, match=message):
        _named.factory(name, arguments)()


def test_a_name_makes_a_new_pipeline_each_time(train):
    name, argument = train
    make = _named.factory(name, [argument, "side=6"])
    one, other = make(), make()
    assert isinstance(one, Pipeline)
    assert one is not other
    assert one.run()[0].shape() == [(6, 6, 3)] * 2
    one.close()


def test_a_pipeline_in_a_variable_takes_no_arguments(train):
    name, argument = train
    path = name.partition(":")[0]
    Path(path).write_text(f"{TRAIN}ready = training({argument.partition('=')[2]!r})")
    assert isinstance(_named.factory(f"{path}:ready")(), Pipeline)
    with pytest.raises(_named.PipelineNameError, match="is a pipeline, not a function, so it takes no --arg"):
        _named.factory(f"{path}:ready", [argument])


@pytest.mark.parametrize("arguments", [["doctor"], ["index", "a.tar"]])
def test_arguments_without_a_pipeline_are_refused(arguments, capsys):
    assert main([*arguments, "--arg", "side=3"]) == 2
    assert f"{arguments[0]}: --arg side=3 needs the name of a pipeline" in capsys.readouterr().err


def test_a_factory_takes_the_arguments_of_a_pipeline(train):
    name, argument = train
    assert _named.factory(name, [argument, "batch_size=3"])().max_batch_size == 3
    with pytest.raises(_named.PipelineNameError, match="has no argument 'sid'; did you mean side"):
        _named.factory(name, [argument, "sid=3"])


@pytest.mark.parametrize("command", ["bench", "doctor", "view", "index", "serve"])
def test_errors_of_the_users_module_keep_their_place(train, tmp_path, command):
    name, _ = train
    path = Path(name.partition(":")[0])
    path.write_text("raise ValueError('top level')")
    arguments = [str(tmp_path), "--model", name] if command == "serve" else [name]
    with pytest.raises(ValueError, match="^top level$") as caught:
        main([command, *arguments])
    assert caught.traceback[-1].path == path


@pytest.mark.parametrize("command", ["bench", "doctor", "view", "index"])
def test_errors_of_the_users_function_keep_their_place(train, command):
    name, _ = train
    path = Path(name.partition(":")[0])
    path.write_text("import json\n\ndef training():\n    json.loads()\n")
    with pytest.raises(TypeError, match=r"loads\(\) missing") as caught:
        main([command, name])
    assert caught.traceback[-1].path == path


def test_a_model_that_does_not_exist(tmp_path, capsys):
    assert main(["serve", str(tmp_path), "--model", "json:nothing"]) == 1
    assert capsys.readouterr().err == "serve: json:nothing: json has no 'nothing'\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--warmup", "-3"], "--warmup: -3: must be at least 0"),
        (["--seconds", "nan"], "--seconds: 'nan' is not a number above 0"),
        (["--seconds", "-1"], "--seconds: '-1' is not a number above 0"),
        (["-n", "x"], "'x' is not a whole number"),
    ],
)
def test_numbers_of_bench(arguments, message, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["bench", "train.py:training", *arguments])
    assert message in capsys.readouterr().err


def test_the_seconds_of_bench_are_those_that_are_measured(train, monkeypatch, capsys):
    """Whatever the time from the start, which has warming up in it."""
    went_on = []

    def measured(pipe, batches, advance, warm):
        went_on.extend(advance(done, seconds) for done, seconds in ((1, 0.5), (2, 59.0), (3, 61.0)))
        return Recorder([pipe], PhaseTimer("batch", "outputs")).report(3, 1.0, 0.0)

    monkeypatch.setattr("jdali.cli._bench.measure_loop", measured)
    name, argument = train
    assert main(["bench", name, "--arg", argument, "--seconds", "60"]) == 0
    assert went_on == [True, True, False]
    capsys.readouterr()


def test_bench_prints_the_report(train, capsys):
    name, argument = train
    assert main(["bench", name, "--arg", argument, "-n", "3", "--warmup", "1"]) == 0
    printed = capsys.readouterr().out
    assert "samples a second, in batches of 2" in printed
    assert printed.splitlines()[1].startswith("3 batches in ")
    assert "verdict: " in printed
    assert main(["bench", name]) == 1
    assert "needs folder; give --arg folder=..." in capsys.readouterr().err
    assert main(["bench", name, "--arg", "folder=nowhere"]) == 1
    assert capsys.readouterr().err.startswith("bench: readers.file: ")


def test_data_that_end_too_early(train, capsys):
    name = train[0].replace("training", "short")
    assert main(["bench", name]) == 1
    assert capsys.readouterr().err == f"bench: {name} ends before the loop is measured; take fewer --warmup\n"
    assert main(["bench", name, "--warmup", "0"]) == 0
    assert main(["doctor", name, "--arg", "batches=0"]) == 1
    assert f"doctor: {name} has no batch: its external source" in capsys.readouterr().err


def test_doctor_and_index_take_pipelines(train, capsys):
    name, argument = train
    assert main(["doctor", name, "--arg", argument]) == 0
    printed = capsys.readouterr().out
    assert "output 0: batch: 2 samples on cpu, HWC, DALIDataType.UINT8, (4, 4, 3)" in printed
    assert "plan of " in printed
    assert main(["index", name, "--arg", argument]) == 0
    assert "reader: 9 samples" in capsys.readouterr().out
    assert main(["index", name.replace("training", "number"), "--arg", argument]) == 1
    assert "gives int, not a pipeline" in capsys.readouterr().err


def test_view_serves_until_it_is_interrupted(train, capsys, monkeypatch):
    server = pytest.importorskip("jdali._viewer.server", reason="the extra `view` is not installed")
    name, argument = train
    seen = []

    def look(self):
        seen.append(urllib.request.urlopen(self.url + "time", timeout=60).read().decode())
        raise KeyboardInterrupt

    monkeypatch.setattr(server.View, "wait", look)
    assert main(["view", name, "--arg", argument]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("http://127.0.0.1:")
    assert printed.err == ""
    assert "measure a loop" in seen[0]  # a new pipeline can be made
    assert not [t for t in threading.enumerate() if t.name.startswith("jdali-viewer")]
    assert main(["view", name, "--arg", argument, "--host", "0.0.0.0"]) == 0
    assert "everybody who reaches this machine" in capsys.readouterr().err
    assert main(["view", "nothing.py:x"]) == 1
    assert "there is no file nothing.py" in capsys.readouterr().err


def test_view_says_what_is_missing(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "jdali._viewer.server", raising=False)
    assert main(["view", "x.py:y"]) == 1
    assert f"uvicorn is missing; {_view.install('view')}" in capsys.readouterr().err
