"""Before a start: does this Spark have room for the plan, and which settings would give it?"""
