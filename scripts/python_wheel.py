#!/usr/bin/env python3
"""Builds wheels of the Python module, with the program and its data, as pip asks (PEP 517). What CMake needs must be there:
scripts/install_packages.sh test.

pip install .                                 builds in a folder of its own, which is removed
pip install . --config-settings build=build   takes a build folder that there is, of the same Python
"""
import base64
import hashlib
import os
import pathlib
import re
import stat
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXECUTABLE = 0o755


def version():
    return re.search(r"project\(titer VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))[1]


def metadata():
    return (f"Metadata-Version: 2.1\nName: titer\nVersion: {version()}\n"
            "Summary: Predicts the time and memory of one training iteration on a cluster\n"
            "Requires-Python: >=3.9\nProvides-Extra: pandas\nRequires-Dist: pandas; extra == 'pandas'\n")


def tag():
    python = f"cp{sys.version_info.major}{sys.version_info.minor}"
    return f"{python}-{python}-{re.sub('[-.]', '_', sysconfig.get_platform())}"


def installed(build, prefix):
    """What CMake installs, below the prefix."""
    def run(*command):
        subprocess.run(command, check=True)

    if not (build / "CMakeCache.txt").exists():
        generator = ["-G", "Ninja"] if subprocess.run(["ninja", "--version"], capture_output=True, check=False).returncode == 0 else []
        run("cmake", "-S", ROOT, "-B", build, *generator, "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_UNITY_BUILD=ON",
            "-DTITER_BUILD_TESTS=OFF", "-DTITER_PYTHON=ON", f"-DPython_EXECUTABLE={sys.executable}")
    run("cmake", "--build", build, "--parallel", str(os.cpu_count()), "--target", "titer_python", "titer_program")
    for component in ("program", "python"):
        run("cmake", "--install", build, "--prefix", prefix, "--component", component, "--strip")


def files_of(prefix):
    """Where each file goes in the wheel: beside other modules, or below the environment's own folder."""
    data = f"titer-{version()}.data"
    for path in sorted(prefix.rglob("*")):
        if not path.is_file():
            continue
        where = path.relative_to(prefix)
        if where.parts[0] == "bin":
            yield path, f"{data}/scripts/{where.name}"
        elif where.parts[0] == "share" or where.parts[:2] == ("lib", "titer"):
            yield path, f"{data}/data/{where.as_posix()}"
        else:  # lib/pythonX.Y/site-packages/…
            yield path, pathlib.PurePosixPath(*where.parts[3:]).as_posix()


def write_wheel(prefix, path):
    info = f"titer-{version()}.dist-info"
    record = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        def add(name, data, mode=0o644):
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (stat.S_IFREG | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(data)}\n")

        for file, name in files_of(prefix):
            add(name, file.read_bytes(), EXECUTABLE if os.access(file, os.X_OK) else 0o644)
        add(f"{info}/METADATA", metadata().encode())
        add(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: titer\nRoot-Is-Purelib: false\nTag: {tag()}\n".encode())
        add(f"{info}/licenses/LICENSE", (ROOT / "LICENSE").read_bytes())
        wheel.writestr(f"{info}/RECORD", "".join(record) + f"{info}/RECORD,,\n")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """PEP 517. Returns the file's name."""
    name = f"titer-{version()}-{tag()}.whl"
    with tempfile.TemporaryDirectory() as folder:
        build = (config_settings or {}).get("build")
        prefix = pathlib.Path(folder, "prefix")
        installed(ROOT / build if build else pathlib.Path(folder, "build"), prefix)
        write_wheel(prefix, pathlib.Path(wheel_directory, name))
    return name


def build_sdist(sdist_directory, config_settings=None):
    """PEP 517: what the repository keeps."""
    top = f"titer-{version()}"
    files = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], check=True, capture_output=True, text=True).stdout.split("\0")
    with tarfile.open(pathlib.Path(sdist_directory, top + ".tar.gz"), "w:gz") as archive:
        for file in filter(None, files):
            archive.add(ROOT / file, f"{top}/{file}", recursive=False)
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as info:
            info.write(metadata())
            info.flush()
            archive.add(info.name, f"{top}/PKG-INFO")
    return top + ".tar.gz"
