"""Bundles: a namespace taken out as one file, under a passphrase if the person wants one, and read again."""
