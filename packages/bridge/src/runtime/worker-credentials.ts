/** What the first two steps of the handshake give a worker. */
export interface Credentials {
  /** Proves to step 1 who the present holder is. In memory only: a restarted or cloned process must not have it. */
  readonly workerJwt: string;
  readonly ingressToken: string;
  readonly apiBaseUrl: string;
  readonly epoch: number;
}
