"""A sweeper that optimises, as small as can be: it tries an interval's middle, and then a half of it."""

import json
from pathlib import Path

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.plugins import Plugins
from hydra.plugins.sweeper import Sweeper


class HalvingSweeper(Sweeper):
    """Looks for the least value of one interval, on a logarithmic scale."""

    def setup(self, *, hydra_context, task_function, config):
        """Keep the launcher and the configuration."""
        self.config = config
        self.launcher = Plugins.instance().instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function, config=config
        )

    def sweep(self, arguments):
        """Try four values, two at a time."""
        parsed = OverridesParser.create().parse_overrides(arguments)
        (interval,) = [override for override in parsed if override.is_interval_sweep()]
        others = [override.input_line for override in parsed if override is not interval]
        low, high = interval.value().start, interval.value().end
        tried = []
        for turn in range(2):
            values = [low * (high / low) ** share for share in (0.25, 0.75)]
            jobs = [[*others, f"{interval.key_or_group}={value!r}"] for value in values]
            returned = self.launcher.launch(jobs, initial_job_idx=2 * turn)
            found = [job.return_value for job in returned]
            tried += zip(values, found)
            middle = (low * high) ** 0.5
            low, high = (low, middle) if found[0] < found[1] else (middle, high)
        Path(self.config.results_dir, "tried.json").write_text(json.dumps(tried))
