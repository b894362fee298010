import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { standsStill, until } from './raw-upstream.ts';

const mebibyte = 1024 ** 2;
const bytes = (process.env['SALLYPORT_LONG'] === '1' ? 5 : 1) * 1024 * mebibyte;

// A gibibyte takes seconds; with less, what piles up could hide in what a process grows by anyway.
test('an upload of gibibytes takes the memory of a small one', { timeout: 300_000 }, async () => {
  let upload: IncomingMessage | undefined;
  let received = 0;
  const server = createServer((request, response) => {
    upload = request;
    request.once('end', () => response.end(String(received)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => server.closeAllConnections());
  const gateway = await start(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const before = gateway.peak();

  const caller = connect(gateway.port, '127.0.0.1').on('error', () => undefined);
  let answer = '';
  caller.setEncoding('latin1').on('data', (text: string) => (answer += text));
  caller.write(`POST /v1/files HTTP/1.1\r\nHost: x\r\nContent-Length: ${bytes}\r\n\r\n`);
  const zeros = Buffer.alloc(mebibyte);
  let sent = 0;
  const write = () => {
    while (sent < bytes) {
      sent += zeros.length;
      if (!caller.write(zeros)) return;
    }
  };
  caller.on('drain', write);
  write();

  // Nobody reads at the other end: what is under way is what the sockets hold, and a little here.
  await until(() => upload !== undefined);
  await standsStill(() => sent);
  expect(sent).toBeLessThan(32 * mebibyte);
  upload?.on('data', (chunk: Buffer) => (received += chunk.length));
  while (!answer.endsWith(String(bytes))) await once(caller, 'data');
  caller.destroy();
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  expect((gateway.peak() - before) / mebibyte).toBeLessThan(192);
});

async function start(upstream: string) {
  const program = join(import.meta.dirname, 'upload-victim.ts');
  const child = spawn(process.execPath, ['-C', '@sallyport/source', program, upstream], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const [url] = (await once(createInterface(child.stdout), 'line')) as [string];
  return {
    port: Number(new URL(url).port),
    /** The most memory that it ever had, in bytes. */
    peak: () =>
      1024 * Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${String(child.pid)}/status`, 'utf8'))?.[1]),
  };
}
