/** A WebSocket, as far as a stream needs it; the app adapts its library's. */
export interface StreamSocket {
  /** Bytes taken by `send` that the network has not. */
  readonly bufferedAmount: number;
  /** Bytes that came: what is there of a frame that is not whole yet is a sign of life, too. */
  readonly bytesRead: number;
  /** `sent` runs when the network has the frame, or never will. */
  send(text: string, sent: () => void): void;
  ping(): void;
  close(code: number, reason: string): void;
  /** Ends it without a word. */
  terminate(): void;
  /** Stops and resumes reading. */
  pause(): void;
  resume(): void;
  listen(listener: SocketListener): void;
}

export interface SocketListener {
  /** A text frame; `undefined` for a binary one. */
  message(text: string | undefined): void;
  pong(): void;
  closed(): void;
}
