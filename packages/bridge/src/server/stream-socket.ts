/** A WebSocket, as far as a stream needs it; the app adapts its library's. */
export interface StreamSocket {
  /** Bytes of `sendText` that the network has not. */
  readonly bufferedAmount: number;
  /** Bytes that came: what is there of a frame that is not whole yet is a sign of life, too. */
  readonly bytesRead: number;
  /** `taken` runs as the network takes the frame, a piece of a large one at a time, or never will. */
  sendText(text: string, taken: () => void): void;
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
