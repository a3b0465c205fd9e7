"""Reads a pattern and texts, a line of code points each. Prints for each text in how many ways it matches."""

import re

with open("texts") as lines:
    pattern, *texts = ["".join(chr(int(point)) for point in line.split()) for line in lines]
print("".join(str(sum(bool(way(pattern, text)) for way in (re.search, re.match, re.fullmatch))) for text in texts))
