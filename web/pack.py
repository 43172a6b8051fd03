"""Pack a file in gzip's form, as small as libdeflate can: python pack.py FILE OUT."""

import sys
from pathlib import Path

import deflate

SMALLEST = 12

source, out = map(Path, sys.argv[1:])
out.write_bytes(deflate.gzip_compress(source.read_bytes(), SMALLEST))
