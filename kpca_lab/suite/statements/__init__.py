"""The statements of the papers; ``load_statements`` of :mod:`kpca_lab.suite.claims` imports all modules.

What the checks expect of the records beyond their columns; settings are entries of ``parameters``:

==============================  ==============================================================================
item                            methods, metrics and settings
==============================  ==============================================================================
washizawa2012/figure3, figure4  ``basis``: share of the samples (else m over the largest m)
washizawa2012/table3 .. table6  classification_error; ``centered`` true or false, ``basis``
washizawa2012/table7, table8    denoising_mse of subset, reduced, wiener, median, bm3d; ``level``: sigma or p
zhang2010/table2 .. table8      n_used, runtime (pca, apca; full, akpca); ``alpha``
zhang2010/table9, table11       accuracy; ``alpha``
chin2006/table1                 runtime of full, incremental, hebbian; ``n``: number of vectors
chin2006/table2                 classification_error of full, incremental; ``n``: number of training images
chin2006/figure2, figure4       component_correlation of incremental with batch, one row per component
chin2006/ (any item)            update_seconds and n_points of incremental; ``update``: its number
marukatat2016/ (any item)       eigenvalue_error, subspace_distance, runtime of empirical_map, full; m is q;
                                eigenvalue_bound_ratio, subspace_bound_ratio: error over bound (3), (5)
wang2016/figure1, figure2       sparsity (share of zeros) and component_correlation of elastic_net;
                                ``lambda_1`` in figure2: sum of the weights
wang2016/figure3, figure4       sparsity of elastic_net; reconstruction_mse of full and elastic_net over r
==============================  ==============================================================================
"""
