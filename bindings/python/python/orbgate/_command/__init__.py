"""The commands of `python -m orbgate`, each a module that adds itself to the parser."""
