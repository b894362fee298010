/** Keeps retries from burying an upstream that is in trouble: at most a fifth of what is in flight, and three always. */
export interface RetryBudget {
  began(): void;
  /** `retried`: the request had taken from the budget. */
  ended(retried: boolean): void;
  /** Whether the request may be sent again; a request takes once, however often it is sent. */
  take(): boolean;
}

const share = 0.2;
const least = 3;

export function createRetryBudget(): RetryBudget {
  let active = 0;
  let retrying = 0;
  return {
    began() {
      active++;
    },
    ended(retried) {
      active--;
      if (retried) retrying--;
    },
    take() {
      if (retrying >= Math.max(least, active * share)) return false;
      retrying++;
      return true;
    },
  };
}
