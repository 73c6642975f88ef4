"""Durable work of many steps. A job survives ``kill -9`` and continues where it was; no step is done twice."""

from shelfd.memory.ports.job import UNFINISHED, Job, draw_run_id, job_id_of

__all__ = ["UNFINISHED", "Job", "draw_run_id", "job_id_of"]
