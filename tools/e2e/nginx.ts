import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { capabilities } from '../test/capabilities.mjs';
import { freePort } from '@sallyport/core/testing';
import { binDir, type Installation } from './installation.ts';

export const { nginx } = capabilities();

/** What nginx's documentation on WebSocket proxying asks for; the rest is as nginx does it when told nothing. */
const passUpgrades = [
  'proxy_http_version 1.1;',
  'proxy_set_header Upgrade $http_upgrade;',
  'proxy_set_header Connection $connection_upgrade;',
];

/** nginx in front of a port, with its own defaults (responses buffered, 60 s of patience); gives its URL. */
async function startNginx(
  installation: Installation,
  {
    port,
    upstream,
    upgrades,
  }: { readonly port: number; readonly upstream: number; readonly upgrades: boolean },
): Promise<string> {
  const folder = join(installation.folder, `nginx-${port}`);
  mkdirSync(folder);
  const scratch = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const config = `
    daemon off;
    # One process, with the rights of whoever starts it: nothing can outlive it.
    master_process off;
    pid ${folder}/pid;
    error_log stderr notice;
    events {}
    http {
      access_log off;
      ${scratch.join(' ')}
      map $http_upgrade $connection_upgrade { default upgrade; '' close; }
      server {
        listen 127.0.0.1:${port};
        location / {
          proxy_pass http://127.0.0.1:${upstream};
          ${upgrades ? passUpgrades.join(' ') : ''}
        }
      }
    }`;
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, config);
  const program = installation.run(nginx ?? 'nginx', ['-e', 'stderr', '-p', folder, '-c', file]);
  await program.shows(/OS: /); // the last it says before it serves; its port is bound by then
  return `http://127.0.0.1:${port}`;
}

/** What a request passes on its way to the gateway that serves it. */
export type Hop = 'nginx' | 'gateway';

/**
 * A gateway behind hops, the outermost first, that says of itself that it is where the outermost is, with the person logged in
 * there. `bareUrl` leads there through an nginx that knows nothing of WebSockets.
 */
export async function openBehind(
  installation: Installation,
  hops: readonly Hop[],
): Promise<{ readonly bareUrl: string }> {
  const [port, barePort] = [await freePort(), await freePort()];
  await installation.gateway(['--public-url', `http://127.0.0.1:${port}`]);
  const upstream = Number(new URL(installation.baseUrl).port);
  const bareUrl = await startHops(installation, hops, { port: barePort, upstream, upgrades: false });
  installation.baseUrl = await startHops(installation, hops, { port, upstream, upgrades: true });
  await installation.login();
  return { bareUrl };
}

async function startHops(
  installation: Installation,
  [outermost, ...others]: readonly Hop[],
  { port, ...to }: { readonly port: number; readonly upstream: number; readonly upgrades: boolean },
): Promise<string> {
  let { upstream } = to;
  if (others.length > 0) {
    const inner = await startHops(installation, others, { ...to, port: await freePort() });
    upstream = Number(new URL(inner).port);
  }
  if (outermost === 'nginx') return startNginx(installation, { ...to, port, upstream });
  const args = ['start', '--port', String(port), '--upstream', `http://127.0.0.1:${upstream}`];
  const env = { SALLYPORT_DATA_DIR: join(installation.folder, `gateway-${port}`) };
  const program = installation.run(join(binDir, 'sallyport-gateway'), args, { env });
  const [, url = ''] = await program.shows(/^listening on (http:\S+)$/m);
  return url;
}
