"""What happens inside a job: samples are loaded, methods fitted, and the fits measured.

In: a :class:`~kpca_lab.suite.jobs.Job`. Out: an :class:`~kpca_lab.suite.jobs.Outcome`, rows and small arrays.
"""
