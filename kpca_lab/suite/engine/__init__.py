"""From settings to records: jobs, their identities, the workers that run them, the store that keeps them.

In: settings. Out: rows in ``results/<profile>/records``; what is done is not computed again.
"""
