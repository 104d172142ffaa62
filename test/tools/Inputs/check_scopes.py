"""Counts the commands of reports whose module is not the layer of their names.

usage: check_scopes.py REPORT.json ...
"""

import json
import re
import sys
from pathlib import Path

for path in sys.argv[1:]:
    commands = json.loads(Path(path).read_text())["commands"]
    layers = [(each, match[0]) for each in commands if each["kind"] != "reducesum"
              if (match := re.search(r"h\.\d+", each["name"]))]
    wrong = [each for each, layer in layers if not each["scope"].endswith("." + layer)]
    for each in wrong:
        print(each)
    print(f"{len(layers)} commands of layers, {len(wrong)} in others")
