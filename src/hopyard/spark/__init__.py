"""All that touches Spark's JVM: jobs, sessions, what executors there are, columns as Spark holds them."""
