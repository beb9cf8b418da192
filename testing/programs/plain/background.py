"""Work in a thread of its own."""
import threading
import time


class Background:
    """Runs something in a thread; `result` is what it gave or raised, `took` how long it needed from the start of `wait`."""

    def __init__(self, work):
        self.result, self.work = None, work
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        try:
            self.result = self.work()
        except Exception as error:
            self.result = error

    def wait(self, seconds):
        began = time.monotonic()
        self.thread.join(seconds)
        assert not self.thread.is_alive(), f"no answer after {seconds} s"
        self.took = time.monotonic() - began
        return self.result
