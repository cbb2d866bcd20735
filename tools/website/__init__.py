"""Implements `tools/make_docs.py`: pages of operators and their examples, the gallery, tutorials, links."""
