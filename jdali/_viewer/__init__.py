"""A local page that shows a pipeline: batches, samples, the graph, the data, the time.

server.py    Starlette and uvicorn, bound to one address, behind a token
layout.py    the frame of all pages
batches.py sample.py graph.py data.py timing.py   the pages
hints.py     what the values of a graph are, by the operators that they come from
survey.py    sizes, labels, mean and deviation, measured in the background
measure.py   a loop as training would have one

Only server.py needs the extra `view`.
"""
