"""Configuration of the unit tests: lit runs each GoogleTest program of the build folder in shards."""

import os

import lit.formats

config.name = "unit"
config.test_format = lit.formats.GoogleTest(".", "test")
source = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
build = os.path.abspath(lit_config.params.get("build", os.path.join(source, "build")))
config.test_source_root = config.test_exec_root = os.path.join(build, "bin", "unit")
