"""Where nodes run: in this process, in processes of this machine, on Spark's executors."""
