"""The wheel carries ``conf/`` as ``kpca_lab/conf``, but for the papers' experiments, which need a clone."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithConf(build_py):
    """Copy the configuration beside the modules; an editable install reads that of the clone."""

    def run(self):
        """Build the modules, then copy."""
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib, "kpca_lab", "conf")
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree("conf", target, ignore=shutil.ignore_patterns("experiment"))


setup(cmdclass={"build_py": BuildWithConf})
