"""From YAML files and the command line to checked, plain settings.

In: ``conf/`` and overrides. Out: :class:`~kpca_lab.suite.config.settings.Settings`, or a ``ConfigError``
that names the valid choices before anything is computed.
"""
