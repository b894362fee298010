/** Lets so many do something at a time; the others come to it in the order in which they asked. */
export interface Turns {
  take<T>(act: () => Promise<T>): Promise<T>;
}

export function createTurns(atATime: number): Turns {
  const waiting: (() => void)[] = [];
  let free = atATime;
  return {
    async take(act) {
      if (free > 0) free--;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await act();
      } finally {
        const next = waiting.shift();
        if (next) next();
        else free++;
      }
    },
  };
}
