import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A line to the gateway each of whose connections carries `budget()` bytes, both ways together, and is cut in their middle. */
export async function breakingLine(budget: () => number) {
  const open = new Set<Socket>();
  let port = 0;
  let cuts = 0;
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    let left = budget();
    const carry = (from: Socket, to: Socket) => {
      open.add(from);
      from.on('error', () => undefined).on('close', () => to.destroy());
      from.on('data', (bytes: Buffer) => {
        if (left === 0) return;
        const carried = bytes.subarray(0, left);
        left -= carried.length;
        if (left > 0) return void to.write(carried);
        cuts += 1;
        // What was carried arrives; whoever sent it is not told so.
        to.end(carried, () => from.resetAndDestroy());
      });
    };
    carry(near, far);
    carry(far, near);
  });
  const listen = (at: number) => new Promise<void>((resolve) => server.listen(at, '127.0.0.1', resolve));
  await listen(0);
  const { port: own } = server.address() as AddressInfo;
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${own}`,
    leadTo: (url: string) => (port = Number(new URL(url).port)),
    get cuts() {
      return cuts;
    },
    /** Cuts all there is; until it is `up` again nobody is there. */
    down() {
      server.close();
      for (const socket of open) socket.destroy();
    },
    up: () => listen(own),
  };
}
