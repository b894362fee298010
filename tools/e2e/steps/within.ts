/** Rejects where `act` takes longer: unlike a test's own limit, so that what the test holds is freed. */
export async function within<T>(limitMs: number, act: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`still not over after ${limitMs} ms`)), limitMs);
  });
  try {
    return await Promise.race([act, late]);
  } finally {
    clearTimeout(timer);
  }
}
