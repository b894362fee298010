import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@sallyport/core/testing';
import type { ServerProcess } from '../server-process.ts';

/** nginx as one process that keeps its connections and holds nothing back; `undefined` where there is none. */
export async function runNginx(upstreamPort: number): Promise<ServerProcess | undefined> {
  if (spawnSync('nginx', ['-v']).error) return undefined;
  const port = await freePort();
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-bench-nginx-'));
  writeFileSync(join(directory, 'nginx.conf'), nginxConf(port, upstreamPort, directory));
  const args = ['-c', '0', 'nginx', '-e', 'stderr', '-p', directory, '-c', 'nginx.conf'];
  const child = spawn('taskset', args, { stdio: ['ignore', 'ignore', 'inherit'] });
  process.once('exit', () => child.kill());
  const running = { child, port, line: '' };
  for (let attempt = 0; attempt < 100 && !(await listens(port)); attempt++) await sleep(50);
  return running;
}

function nginxConf(port: number, upstreamPort: number, directory: string): string {
  return `daemon off; master_process off; pid ${directory}/pid; error_log stderr crit;
events { worker_connections 1024; }
http {
  access_log off; keepalive_requests 1000000000; client_max_body_size 0;
  client_body_temp_path ${directory}/body; proxy_temp_path ${directory}/proxy;
  fastcgi_temp_path ${directory}/f; uwsgi_temp_path ${directory}/u; scgi_temp_path ${directory}/s;
  map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
  upstream behind { server 127.0.0.1:${upstreamPort}; keepalive 64; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://behind; proxy_http_version 1.1; proxy_buffering off; proxy_request_buffering off;
      proxy_set_header Connection $connection_upgrade; proxy_set_header Upgrade $http_upgrade;
    }
  }
}
`;
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket
      .once('error', () => resolve(false))
      .once('connect', () => {
        socket.destroy();
        resolve(true);
      });
  });
}
