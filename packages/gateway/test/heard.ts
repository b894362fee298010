import type { StreamSocket } from '@sallyport/bridge/server';

/** Has each text that comes told, and no more of the socket than that. */
export function heard(socket: StreamSocket, tell: (text: string) => void): void {
  socket.listen({ message: (text = '') => tell(text), pong: () => undefined, closed: () => undefined });
}

/** Sends back each text that comes. */
export function echo(socket: StreamSocket): void {
  heard(socket, (text) => socket.sendText(text, () => undefined));
}
