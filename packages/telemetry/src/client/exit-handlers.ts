/** What a batcher does as its process ends. */
export interface AtExit {
  /** The event loop has run dry: there is time left to send. */
  drain(): void;
  /** The process is about to end: nothing asynchronous runs any more. */
  spill(): void;
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Has `atExit` run at the end of this process; gives the way to undo it. An uncaught error ends a process by `exit`, too. */
export function installExitHandlers(atExit: AtExit, options: { readonly signals: boolean }): () => void {
  const drain = () => atExit.drain();
  const spill = () => atExit.spill();
  const onSignal = (signal: NodeJS.Signals) => {
    atExit.spill();
    process.off(signal, onSignal);
    // Again, and now to its own effect, so that the parent sees the process end by the signal. Where the program has a
    // handler, the end is the program's business.
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  };
  process.on('beforeExit', drain).on('exit', spill);
  if (options.signals) for (const signal of signals) process.on(signal, onSignal);
  return uninstall;

  function uninstall() {
    process.off('beforeExit', drain).off('exit', spill);
    for (const signal of signals) process.off(signal, onSignal);
  }
}
