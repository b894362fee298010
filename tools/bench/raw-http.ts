import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Sends a request, as it goes over the wire, and gives the body of the answer. Rejects where that is no 200. */
export interface RawHttp {
  exchange(request: string): Promise<string>;
  close(): void;
}

/**
 * HTTP/1.1 over sockets that are kept: a driver that takes more of the machine than the server measures itself. Knows no more
 * of HTTP than a small answer with its length needs.
 */
export function openRawHttp(port: number): RawHttp {
  const idle: Socket[] = [];
  const all = new Set<Socket>();

  async function open(): Promise<Socket> {
    const socket = connect(port, '127.0.0.1').setNoDelay(true).setEncoding('latin1');
    all.add(socket);
    socket.on('error', () => undefined); // what was sent over it hears of its close
    await once(socket, 'connect');
    return socket;
  }

  return {
    async exchange(request) {
      const socket = idle.pop() ?? (await open());
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      let text = '';
      const closed = () => reject(new Error('closed'));
      const take = (chunk: string) => {
        text += chunk;
        const end = text.indexOf('\r\n\r\n') + 4;
        const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
        if (end < 4 || text.length < end + length) return;
        socket.off('data', take).off('close', closed);
        idle.push(socket);
        if (text.startsWith('HTTP/1.1 200')) resolve(text.slice(end));
        else reject(new Error(`${request.split('\r\n', 1)[0] ?? ''}: ${text}`));
      };
      socket.on('data', take).on('close', closed).write(request);
      return promise;
    },
    close() {
      for (const socket of all) socket.destroy();
    },
  };
}
