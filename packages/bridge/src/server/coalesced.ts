/**
 * Gives a function that runs `act`, never two at a time: asked while it runs, it runs once more afterwards. What it gives
 * resolves when nothing is asked any more, so at least one whole run came after the call.
 */
export function coalesced(act: () => Promise<void>): () => Promise<void> {
  let runs = 0;
  let asked = 0;
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    try {
      while (runs < asked) {
        runs = asked;
        await act();
      }
    } finally {
      // Here and not in a `then`: a call between the last look and that would be lost.
      running = undefined;
    }
  }

  return () => {
    asked++;
    return (running ??= run());
  };
}
