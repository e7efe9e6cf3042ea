"""The proof checker, if it is installed with what the proofs need."""

import shutil
import subprocess
from pathlib import Path

COQC = shutil.which("coqc")
PROOFS = Path(__file__).parents[2] / "proofs"


def has_coquelicot():
    if COQC is None:
        return False
    where = subprocess.run([COQC, "-where"], capture_output=True, text=True, check=True)
    return (Path(where.stdout.strip()) / "user-contrib" / "Coquelicot").is_dir()
