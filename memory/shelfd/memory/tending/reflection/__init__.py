"""Reflection: a bounded run that tidies the notes of a shelf, in steps that can each be taken back."""

from shelfd.memory.tending.reflection.action import Action
from shelfd.memory.tending.reflection.gate import hold_back
from shelfd.memory.tending.reflection.run import ReflectionPlan, draw_gated_plan, draw_plan
from shelfd.memory.tending.reflection.step import Step
from shelfd.memory.tending.reflection.steps import STEPS

__all__ = ["STEPS", "Action", "ReflectionPlan", "Step", "draw_gated_plan", "draw_plan", "hold_back"]
