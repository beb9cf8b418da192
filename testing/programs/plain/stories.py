"""Programs of several subjects, each a file of its own."""
import importlib
import os
import sys
import traceback

from plain.house import bad


def tell(folder):
    """Runs `main()` of each `story_*.py` in the folder, which says its own `ok` and `FAILED` lines. STORY="names" narrows."""
    wanted = os.environ.get("STORY", "").split()
    sys.path.insert(0, str(folder))
    for file in sorted(folder.glob("story_*.py")):
        name = file.stem.removeprefix("story_")
        if wanted and name not in wanted:
            continue
        try:
            importlib.import_module(file.stem).main()
        except Exception:
            bad(name, traceback.format_exc())
