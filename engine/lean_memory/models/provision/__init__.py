"""Fetching the files of models when the person says so: from a hub, from a mirror or from a folder; checked, kept and taken up again."""
