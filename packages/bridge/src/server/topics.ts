/** Work may wait for this environment. */
export function workTopic(environmentId: string): string {
  return `work:${environmentId}`;
}

/** The session's log, epoch or existence changed. */
export function sessionTopic(sessionId: string): string {
  return `session:${sessionId}`;
}
