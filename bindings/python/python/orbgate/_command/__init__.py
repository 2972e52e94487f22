"""The commands of `python -m orbgate`. Each module adds its command to the parser."""
