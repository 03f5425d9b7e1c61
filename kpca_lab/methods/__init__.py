"""The estimators, one module each. A parameter's name means the same in all of them.

==========================  ===========================================================================
parameter                   meaning
==========================  ===========================================================================
``n_components``            How many components to find at most; None for all, and between 0 and 1 the
                            share of the variance that they are to explain (not in HebbianKPCA,
                            IncrementalKPCA and ElasticNetKPCA, which must know the number).
``kernel``, ``gamma``       The kernel and its width, by scikit-learn's names; ``gamma`` also as a rule,
                            "scale" or "median".
``degree``, ``coef0``       Further parameters of the polynomial and sigmoid kernels.
``kernel_params``           Keyword arguments of a callable kernel, which gets no ``gamma``.
``n_basis``                 On how many samples the components are built, or on which share of them.
``selector``, ``basis``     How these are chosen, or which they are.
``center``                  What is subtracted in feature space. False: nothing. "mean": the mean of all
                            samples. "basis": the mean of the basis. "projected": the mean of all samples
                            projected on the span of the basis. True: that of these which costs the method
                            nothing more, "mean" where all samples are kept, "basis" in ReducedKPCA and
                            NystromKPCA, "projected" in SubsetKPCA and ImprovedKPCA.
``tol``                     How exact the result must be, as a relative size at which the work stops: of
                            the residual of the eigenvectors in FullKPCA, of the gap to full kernel PCA in
                            SubsetKPCA, of the trace that is left in CholeskyKPCA, of the gradient in
                            TippingKPCA, of one minus the cosine to the components in HebbianKPCA. A
                            ConvergenceWarning tells when a limit came first.
``max_iter``                That limit, in rounds over the data: of Newton or EM steps in TippingKPCA, of
                            passes over the samples in HebbianKPCA, of passes for one component in
                            ElasticNetKPCA. A limit of steps within a round has its own name
                            (``max_admm_iter``, ``preimage_max_iter``); ``n_iter_`` tells how many it took.
``orthonormalize``          Make components orthonormal that the method leaves only nearly so.
``random_state``            All that is random in ``fit``: the choice of the basis, a sketch, an order of
                            samples, a start. The same number gives the same bytes.
==========================  ===========================================================================

Fitted estimators have ``operator_``, ``eigenvalues_``, ``n_components_``, ``gamma_``, ``total_variance_``,
``explained_variance_`` and ``explained_variance_ratio_``, see
:class:`kpca_lab.methods.base.OperatorEstimator`.
"""
