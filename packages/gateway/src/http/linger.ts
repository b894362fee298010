import type { IncomingMessage } from 'node:http';

const lingerMs = 2000;

/**
 * Has the connection, once its last answer is written, read on for a moment before it closes. Closed with bytes unread, the
 * kernel resets it, and the reset can overtake the answer: the sender of a body that is too large would never see why.
 */
export function lingerOnClose(request: IncomingMessage): void {
  const { socket } = request;
  // What Node's HTTP server calls after an answer with `Connection: close`.
  socket.destroySoon = () => {
    socket.end();
    // Node has a request flow that nobody has read from, not one that was read from and then paused.
    request.resume();
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    socket.once('close', () => clearTimeout(timer));
  };
}
