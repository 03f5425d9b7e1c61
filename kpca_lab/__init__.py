"""Approximations of kernel PCA as scikit-learn estimators.

A name is imported when it is first asked for: scikit-learn takes longer to import than many a command to run.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kpca_lab.advice import suggest
    from kpca_lab.classify import SubspaceClassifier
    from kpca_lab.methods.approximate import AKPCA, APCA
    from kpca_lab.methods.cholesky import CholeskyKPCA
    from kpca_lab.methods.elastic_net import ElasticNetKPCA
    from kpca_lab.methods.empirical_map import EmpiricalMapKPCA
    from kpca_lab.methods.full import FullKPCA
    from kpca_lab.methods.hebbian import HebbianKPCA
    from kpca_lab.methods.improved import ImprovedKPCA
    from kpca_lab.methods.incremental import IncrementalKPCA
    from kpca_lab.methods.nystrom import NystromKPCA
    from kpca_lab.methods.random_features import RandomFeatureKPCA
    from kpca_lab.methods.reduced import ReducedKPCA
    from kpca_lab.methods.subset import SubsetKPCA
    from kpca_lab.methods.tipping import TippingKPCA
    from kpca_lab.operator import FeatureOperator

__version__ = "0.1.0"

__all__ = [
    "AKPCA",
    "APCA",
    "CholeskyKPCA",
    "ElasticNetKPCA",
    "EmpiricalMapKPCA",
    "FeatureOperator",
    "FullKPCA",
    "HebbianKPCA",
    "ImprovedKPCA",
    "IncrementalKPCA",
    "NystromKPCA",
    "RandomFeatureKPCA",
    "ReducedKPCA",
    "SubsetKPCA",
    "SubspaceClassifier",
    "TippingKPCA",
    "suggest",
]

_HOMES = {
    "AKPCA": "methods.approximate",
    "APCA": "methods.approximate",
    "CholeskyKPCA": "methods.cholesky",
    "ElasticNetKPCA": "methods.elastic_net",
    "EmpiricalMapKPCA": "methods.empirical_map",
    "FeatureOperator": "operator",
    "FullKPCA": "methods.full",
    "HebbianKPCA": "methods.hebbian",
    "ImprovedKPCA": "methods.improved",
    "IncrementalKPCA": "methods.incremental",
    "NystromKPCA": "methods.nystrom",
    "RandomFeatureKPCA": "methods.random_features",
    "ReducedKPCA": "methods.reduced",
    "SubsetKPCA": "methods.subset",
    "SubspaceClassifier": "classify",
    "TippingKPCA": "methods.tipping",
    "suggest": "advice",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
