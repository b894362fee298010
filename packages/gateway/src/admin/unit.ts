import { realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { systemdCommand, systemdWord } from '@sallyport/core/systemd';
import { loadConfig, type LoadedConfig } from '../config/load.ts';
import { embeddedStorePath } from '../store/embedded/path.ts';
import { ExplainedError } from './failure.ts';

/** Where data goes that the configuration gives no place. */
const stateDirectory = '/var/lib/sallyport';
const homes = /^\/(home|root)\//;
/** Emptied now and then, by the system or by who owns them: what is installed there, or kept, goes with them. */
const fleeting: readonly (readonly [place: RegExp, is: string])[] = [
  [/^\/(tmp|var\/tmp|dev\/shm|run)\//, 'in a folder that is emptied'],
  [/\/_npx\//, 'in the cache of npx'],
  [
    /\/(\.nvm|fnm_multishells|\.fnm|\.volta|\.asdf|\.n)\//,
    "in a version manager's folder, which goes when that version does",
  ],
];

/** `sallyport-gateway unit`: a system unit (systemd.unit(5)) for the gateway, for an account that may do nothing else. */
export function printUnit({ user, config }: { readonly user: string; readonly config?: string }): void {
  const program = [process.execPath, realpathSync(process.argv[1] ?? '')];
  const file = config === undefined ? [] : ['--config', resolve(config)];
  // The service gets an environment of its own.
  const loaded = loadConfig({ file: config, env: {} });
  try {
    process.stdout.write(unitText(loaded, { user, words: [...program, 'start', ...file] }));
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new ExplainedError(`${cause.message} Give the folders names without one.`, { cause });
  }
  const hidden = program.find((path) => homes.test(path));
  if (hidden !== undefined)
    process.stderr.write(
      `${hidden} is in somebody's home, which ${user} may not be let into: install it elsewhere, such as under /opt.\n`,
    );
  const { dataDir } = loaded.config;
  for (const path of program) tellFleeting(path, 'install it elsewhere, such as under /opt');
  if (!isDefaultDataDir(loaded))
    tellFleeting(`${dataDir}/`, 'keep the data elsewhere, such as in /var/lib/sallyport');
}

function tellFleeting(path: string, nextStep: string): void {
  const warning = fleetingPlace(path);
  if (warning !== undefined) process.stderr.write(`${warning}: ${nextStep}.\n`);
}

/** Says of what is in a place that does not last where it is. */
export function fleetingPlace(path: string): string | undefined {
  const found = fleeting.find(([place]) => place.test(path));
  return found && `${path.replace(/\/$/, '')} is ${found[1]}`;
}

function isDefaultDataDir({ settings }: LoadedConfig): boolean {
  return settings.some(({ key, origin }) => key === 'dataDir' && origin === 'default');
}

export function unitText(
  loaded: LoadedConfig,
  { user, words }: { readonly user: string; readonly words: readonly string[] },
): string {
  const isDefault = isDefaultDataDir(loaded);
  const { config } = loaded;
  const dataDir = isDefault ? stateDirectory : config.dataDir;
  const places = new Set([dataDir, dirname(embeddedStorePath({ ...config, dataDir }))]);
  const elsewhere = [...places].filter((place) => place !== stateDirectory).map(systemdWord);
  return [
    '[Unit]',
    'Description=Sallyport gateway',
    'Wants=network-online.target',
    'After=network-online.target',
    '',
    '[Service]',
    'Type=exec',
    `ExecStart=${systemdCommand(words)}`,
    // It reads its configuration again.
    'ExecReload=kill -HUP $MAINPID',
    `User=${user}`,
    ...(isDefault ? [`Environment=SALLYPORT_DATA_DIR=${stateDirectory}`] : []),
    // For what must not be in a file that others may read, such as SALLYPORT_UPSTREAM_CREDENTIAL.
    'EnvironmentFile=-/etc/sallyport/gateway.env',
    'Restart=on-failure',
    // A configuration that is no good does not get better by itself.
    'RestartPreventExitStatus=2',
    `TimeoutStopSec=${Math.ceil(config.drainSeconds) + 10}`,
    // A connection is a file.
    'LimitNOFILE=65536',
    '',
    ...(places.has(stateDirectory) ? ['StateDirectory=sallyport', 'StateDirectoryMode=0700'] : []),
    ...(elsewhere.length > 0 ? [`ReadWritePaths=${elsewhere.join(' ')}`] : []),
    'UMask=0077',
    ...hardening,
    ...(config.port > 0 && config.port < 1024
      ? ['AmbientCapabilities=CAP_NET_BIND_SERVICE', 'CapabilityBoundingSet=CAP_NET_BIND_SERVICE']
      : ['CapabilityBoundingSet=']),
    `ProtectHome=${[...words, ...places].some((path) => homes.test(path)) ? 'read-only' : 'yes'}`,
    '',
    '[Install]',
    'WantedBy=multi-user.target',
    '',
  ].join('\n');
}

/** systemd.exec(5). Not `MemoryDenyWriteExecute`: V8 compiles into memory. */
const hardening = [
  'NoNewPrivileges=yes',
  'PrivateDevices=yes',
  'PrivateTmp=yes',
  'ProtectSystem=strict',
  'ProtectClock=yes',
  'ProtectControlGroups=yes',
  'ProtectHostname=yes',
  'ProtectKernelLogs=yes',
  'ProtectKernelModules=yes',
  'ProtectKernelTunables=yes',
  'ProtectProc=invisible',
  'LockPersonality=yes',
  'RemoveIPC=yes',
  'RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK',
  'RestrictNamespaces=yes',
  'RestrictRealtime=yes',
  'RestrictSUIDSGID=yes',
  'SystemCallArchitectures=native',
  'SystemCallFilter=@system-service',
  'SystemCallErrorNumber=EPERM',
];
