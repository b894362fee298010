import { advising } from '../../io/next-step.ts';

/** Waits for a call about one session; what the person can do where it is unknown or has ended is said with it. */
export function aboutSession<T>(call: Promise<T>): Promise<T> {
  return advising(call, {
    not_found: 'See which there are: sallyport session list',
    session_ended: 'Start another one: sallyport session run "..."',
  });
}
