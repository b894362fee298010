import type { Socket } from 'node:net';

const lingerMs = 2000;

/**
 * Has the connection, once its last answer is written, read on for a moment before it closes. Closed with bytes unread, the
 * kernel resets it, and the reset can overtake the answer: the sender of a body that is too large would never see why.
 */
export function lingerOnClose(socket: Socket): void {
  // What Node's HTTP server calls after an answer with `Connection: close`, when it has set the request flowing.
  socket.destroySoon = () => {
    socket.end();
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    socket.once('close', () => clearTimeout(timer));
  };
}
