"""The user's own NumPy in a pipeline, by the class and by the function."""

import numpy
import nvidia.dali.fn as fn
import nvidia.dali.ops as ops
from nvidia.dali.pipeline import Pipeline
from support.target import keep


def exchange(first, second):
    rows, columns = numpy.ogrid[: first.shape[0], : first.shape[1]]
    mask = (columns - 8) ** 2 + (rows - 6) ** 2 > 20
    one, two = first.copy(), second.copy()
    one[mask], two[mask] = second[mask], first[mask]
    return one, two


class Exchanged(Pipeline):
    def __init__(self):
        super().__init__(3, 2, None, exec_async=False, exec_pipelined=False, seed=99)
        self.input = ops.readers.File(file_root="images")
        self.decode = ops.decoders.Image()
        self.resize = ops.Resize(resize_x=16, resize_y=12)
        self.exchange = ops.PythonFunction(function=exchange, num_outputs=2)

    def define_graph(self):
        encoded, _ = self.input()
        image = self.resize(self.decode(encoded))
        one, two = self.exchange(image, fn.flip(image))
        return one, two, fn.python_function(image, function=lambda array: array[::2] // 2)


pipe = Exchanged()
pipe.build()
keep(**{f"output{i}": output for i, output in enumerate(pipe.run())})
