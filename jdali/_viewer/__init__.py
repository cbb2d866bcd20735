"""Shows a pipeline's batches, samples, graph, data and times on local pages.

server.py    the HTTP server (Starlette and uvicorn), on one address, protected by a token
layout.py    the layout of all pages
batches.py sample.py graph.py data.py timing.py   the pages
hints.py     recognises sounds, boxes, labels and more in the graph
survey.py    measures sizes, labels, mean and deviation in the background
measure.py   measures a pipeline in a loop

Only server.py needs the extra `view`.
"""
