import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { seededRandom } from '@sallyport/core/testing';
import { onTestFinished } from 'vitest';

/** A line to the gateway that breaks after a random number of bytes, again and again, until it is mended. */
export async function breakingLine() {
  const random = seededRandom(7);
  const open = new Set<Socket>();
  let port = 0;
  let isMended = false;
  let cuts = 0;
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    let left = 2_000 + Math.floor(random.fraction() * 40_000);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from.on('error', () => undefined).on('close', () => to.destroy()));
      from.on('data', (bytes: Buffer) => {
        left -= bytes.length;
        if (!isMended && left < 0) {
          cuts += 1;
          near.resetAndDestroy();
          far.resetAndDestroy();
        } else to.write(bytes);
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    leadTo: (url: string) => (port = Number(new URL(url).port)),
    mend: () => (isMended = true),
    get cuts() {
      return cuts;
    },
  };
}
