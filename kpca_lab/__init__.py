"""Approximations of kernel PCA as scikit-learn estimators."""

from kpca_lab.methods.cholesky import CholeskyKPCA
from kpca_lab.methods.full import FullKPCA
from kpca_lab.methods.improved import ImprovedKPCA
from kpca_lab.methods.nystrom import NystromKPCA
from kpca_lab.methods.reduced import ReducedKPCA
from kpca_lab.methods.subset import SubsetKPCA
from kpca_lab.operator import FeatureOperator

__version__ = "0.1.0"

__all__ = [
    "CholeskyKPCA",
    "FeatureOperator",
    "FullKPCA",
    "ImprovedKPCA",
    "NystromKPCA",
    "ReducedKPCA",
    "SubsetKPCA",
]
