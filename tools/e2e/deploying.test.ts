import 'reflect-metadata'; // asked for by @peculiar/x509
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as x509 from '@peculiar/x509';
import { freePort } from '@sallyport/core/testing';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { Installation, root } from './installation.ts';
import { nginx } from './nginx.ts';

// The commands of docs/deploying.md, in its order, on folders of the test's own; what takes root and systemd is stood in for.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const page = readFileSync(join(root, 'docs/deploying.md'), 'utf8');
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(([, block = '']) => block);
const steps = blocks('sh').join('').trim().split('\n');

let installation: Installation;
let port: number;
let publicPort: number;
beforeAll(async () => {
  installation = new Installation();
  [port, publicPort] = [await freePort(), await freePort()];
  for (const folder of ['etc/sallyport', 'etc/systemd/system', 'opt', 'var/lib', 'var/backups/sallyport'])
    mkdirSync(here(`/${folder}`), { recursive: true });
  symlinkSync(root, here('/opt/sallyport'));
  writeFileSync(here('/etc/sallyport/gateway.yaml'), `${inTest(blocks('yaml').join(''))}\nport: ${port}\n`);
  standIn('useradd', 'true');
  standIn('chown', 'true');
  standIn('git', `echo "git $*" >> ${here('/calls')}`);
  standIn('npm', `echo "npm $*" >> ${here('/calls')}`);
  standIn('runuser', 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"');
  standIn('systemctl', systemctl());
});
afterAll(async () => {
  execFileSync(here('/bin/systemctl'), ['stop', 'sallyport-gateway']);
  await installation[Symbol.asyncDispose]();
});

function here(path: string): string {
  return join(installation.folder, path);
}

/** What the page says of one machine, about the test's. */
function inTest(text: string): string {
  return text
    .replaceAll(/(?<![\w.])\/(etc|opt|var)\//g, (path) => here(path))
    .replaceAll('127.0.0.1:8787', `127.0.0.1:${port}`)
    .replaceAll('https://sallyport.example', `https://127.0.0.1:${publicPort}`);
}

function standIn(name: string, script: string): void {
  mkdirSync(here('/bin'), { recursive: true });
  writeFileSync(here(`/bin/${name}`), `#!/bin/sh\n${script}\n`);
  chmodSync(here(`/bin/${name}`), 0o755);
}

/** Starts and stops what the unit says. */
function systemctl(): string {
  const [pid, out, log] = [here('/pid'), here('/out'), here('/log')];
  return `case $1 in
  enable|start)
    rm -f ${out}; mkfifo ${out}
    eval "exec $(sed -n 's/^ExecStart=//p' ${here('/etc/systemd/system/sallyport-gateway.service')})" >${out} 2>>${log} &
    echo $! >${pid}
    read -r line <${out}
    case $line in listening*) ;; *) cat ${log}; exit 1 ;; esac ;;
  stop) [ ! -e ${pid} ] || { kill $(cat ${pid}); tail --pid=$(cat ${pid}) -f /dev/null; rm ${pid}; } ;;
  daemon-reload) ;;
  *) exit 1 ;;
esac`;
}

/** Runs the steps up to the one that begins so, that included; gives what it printed. */
async function upTo(beginning: string): Promise<string> {
  let printed = '';
  for (let step = ''; !step.startsWith(beginning);) {
    step = steps.shift() ?? '';
    if (step === '') throw new Error(`The page has no step ${beginning}.`);
    // Each in a shell of its own: what was exported is on the PATH already.
    const program = installation.run('bash', ['-euo', 'pipefail', '-c', inTest(step)], {
      env: environment(),
    });
    expect(await program.end(), `${step}\n${program.screen}`).toBe(0);
    printed = program.stdout;
  }
  return printed;
}

function environment(): NodeJS.ProcessEnv {
  const PATH = `${here('/bin')}:${installation.env['PATH'] ?? ''}`;
  return { PATH, SALLYPORT_DATA_DIR: undefined, SALLYPORT_PORT: undefined };
}

/** A certificate for this machine that is its own authority. */
async function selfSigned(): Promise<{ readonly cert: string; readonly key: string }> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  x509.cryptoProvider.set(crypto);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=sallyport',
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.SubjectAlternativeNameExtension([{ type: 'ip', value: '127.0.0.1' }]),
    ],
  });
  const key = await crypto.subtle.exportKey('pkcs8', keys.privateKey);
  return { cert: certificate.toString('pem'), key: x509.PemConverter.encode(key, 'PRIVATE KEY') };
}

const emails = async (dataDir: string) => {
  const list = installation.run('sallyport-gateway', ['admin', 'user', 'list', '--data-dir', here(dataDir)], {
    env: environment(),
  });
  expect(await list.end(), list.screen).toBe(0);
  return (JSON.parse(list.stdout) as { email: string }[]).map(({ email }) => email);
};

test('it is set up as the page says, and serves', async () => {
  await upTo('systemctl enable');
  const { setup_link: link } = JSON.parse(await upTo('runuser')) as { setup_link: string };
  expect(link).toContain(`https://127.0.0.1:${publicPort}/setup?`);
  await upTo('runuser -u sallyport -- sallyport-gateway admin user password ann');
  expect(await emails('/var/lib/sallyport')).toEqual(['owner@localhost', 'ann@example.com']);
});

test.skipIf(nginx === undefined)('nginx in front has TLS, lets everything through but /metrics', async () => {
  const { cert, key } = await selfSigned();
  writeFileSync(here('/etc/sallyport/cert.pem'), cert);
  writeFileSync(here('/etc/sallyport/key.pem'), key);
  const server = inTest(blocks('nginx').join('')).replace('listen 443', `listen 127.0.0.1:${publicPort}`);
  const scratch = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${here(`/${name}`)};`,
  );
  writeFileSync(
    here('/nginx.conf'),
    `daemon off; master_process off; pid ${here('/nginx.pid')}; error_log stderr notice; events {}
     http { access_log off; ${scratch.join(' ')} ${server} }`,
  );
  const front = installation.run(nginx ?? '', ['-e', 'stderr', '-p', here('/'), '-c', here('/nginx.conf')]);
  await front.shows(/OS: /);

  const url = `https://127.0.0.1:${publicPort}`;
  const dataDir = { SALLYPORT_DATA_DIR: here('/var/lib/sallyport') };
  const client = {
    ...dataDir,
    SALLYPORT_BASE_URL: url,
    NODE_EXTRA_CA_CERTS: here('/etc/sallyport/cert.pem'),
  };
  await installation.login(client);
  const doctor = installation.sallyport(['doctor', '--json'], { env: client });
  expect(await doctor.end(), doctor.screen).toBe(0);

  const curl = async (...args: string[]) => {
    const answer = [
      '-sS',
      '-o',
      '/dev/null',
      '-w',
      '%{http_code}',
      '--cacert',
      here('/etc/sallyport/cert.pem'),
    ];
    const program = installation.run('curl', [...answer, ...args]);
    expect(await program.end(), program.screen).toBe(0);
    return program.stdout;
  };
  expect(await curl(`${url}/metrics`)).toBe('403');
  const token = installation.sallyport(['token'], { env: client });
  expect(await token.end(), token.screen).toBe(0);
  // Of the size that feedback may have: it is the gateway that says that this is no ZIP.
  writeFileSync(here('/bundle'), Buffer.alloc(49 * 1024 * 1024));
  const form = ['-F', 'description=x', '-F', `bundle=@${here('/bundle')};type=application/zip`];
  const bearer = ['-H', `authorization: Bearer ${token.stdout.trim()}`];
  expect(await curl(...bearer, ...form, `${url}/api/agent_cli_feedback/bundle`)).toBe('400');
  await front.stop('SIGTERM');
});

test('a backup is made beside it, and gone back to', async () => {
  const made = JSON.parse(await upTo('sallyport-gateway admin backup')) as { directory: string };
  expect(made.directory).toBe(here('/var/backups/sallyport/monday'));
  const add = ['admin', 'user', 'add', 'bob@example.com', '--data-dir', here('/var/lib/sallyport')];
  await installation.run('sallyport-gateway', add, { env: environment() }).end();
  await upTo('systemctl start');
  expect(await emails('/var/lib/sallyport')).toEqual(['owner@localhost', 'ann@example.com']);
  expect(await emails('/var/lib/sallyport.before')).toContain('bob@example.com');
});

test('it is upgraded, its keys are rotated, and it tells of itself', async () => {
  await upTo('systemctl start');
  expect(readFileSync(here('/calls'), 'utf8')).toMatch(/^git -C .* pull --ff-only\nnpm .*start -- --help\n$/);
  expect(JSON.parse(await upTo('runuser'))).toMatchObject({ kid: expect.any(String) as string });
  expect(JSON.parse(await upTo('curl'))).toEqual({ status: 'ok' });
  expect(JSON.parse(await upTo('curl'))).toMatchObject({ status: 'ready' });
  expect(await upTo('curl')).toContain('\nsallyport_work_items{state="queued"} 0\n');
  expect(steps).toEqual([]);
});
