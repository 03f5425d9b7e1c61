"""Approximations of kernel PCA as scikit-learn estimators."""

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
