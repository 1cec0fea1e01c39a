"""Ends a streaming program, as the examples of TensorFlowOnSpark do it: ``stop_streaming.py <host> <port>``."""

import sys

from tensorflowonspark import reservation

if __name__ == "__main__":
    client = reservation.Client((sys.argv[1], int(sys.argv[2])))
    client.request_stop()
    client.close()
