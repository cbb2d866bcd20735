"""Makes the HTML documentation; `tools/make_docs.py` is what is run."""
