/** Work may wait for this environment. */
export function workTopic(environmentId: string): string {
  return `work:${environmentId}`;
}

/** The environment's bridge said that it stops, or the environment was deleted. */
export function leaveTopic(environmentId: string): string {
  return `leave:${environmentId}`;
}

/** Work of this environment was stopped. */
export function stopTopic(environmentId: string): string {
  return `stop:${environmentId}`;
}

/** The session's log, epoch or existence changed. */
export function sessionTopic(sessionId: string): string {
  return `session:${sessionId}`;
}
