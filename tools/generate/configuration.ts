import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { settingFacts, type SettingFacts } from '@sallyport/gateway';
import { docComments } from './doc-comments.ts';
import { markdownTable } from './markdown-table.ts';

/** `docs/configuration.md` from the schema of the configuration; run this file to write it. A test compares the two. */
export function renderConfiguration(): string {
  const sections = [...Map.groupBy(facts, ({ key }) => groupOf(key))].map(
    ([group, settings]) => `## ${group}\n\n${sectionOf(settings)}`,
  );
  return `${[intro, ...sections].join('\n\n')}\n`;
}

export const configurationPath = join(import.meta.dirname, '../../docs/configuration.md');

const facts = settingFacts({ HOME: '~' });
const meanings = new Map([
  ...within('oauth', docComments('packages/oauth/src/server/config.ts', 'OAuthConfig')),
  ...within('bridge', docComments('packages/bridge/src/server/config.ts', 'BridgeConfig')),
  ...within('telemetry', docComments('packages/telemetry/src/server/engine.ts', 'TelemetryConfig')),
  ...docComments('packages/gateway/src/config/schema.ts', 'configSchema'),
]);

const intro = `# Configuration

Every setting of \`sallyport-gateway\`, generated from its schema (\`packages/gateway/src/config/schema.ts\`; \`node -C @sallyport/source tools/generate/configuration.ts\`).
Flags win over the environment, that over the file of \`--config\` (YAML or JSON), and that over the defaults. A key
\`oauth.refreshGraceSeconds\` is \`SALLYPORT_OAUTH_REFRESH_GRACE_SECONDS\` in the environment, \`--set oauth.refreshGraceSeconds=0\` on the
command line, and \`refreshGraceSeconds\` under \`oauth\` in the file. \`sallyport-gateway config\` prints what is in force, and where each
value comes from; an unknown key, or a value that is not allowed, is an error that says what is.

↻ marks what SIGHUP changes while the gateway runs ([passthrough.md](passthrough.md#changing-it-while-it-runs)); the rest needs a restart.`;

function within(group: string, comments: ReadonlyMap<string, string>): [string, string][] {
  return [...comments].map(([key, comment]) => [`${group}.${key}`, comment]);
}

/** What is alone, and what has a group. */
function groupOf(key: string): string {
  return key.includes('.') ? `\`${key.replace(/\..*/, '')}\`` : 'The gateway itself';
}

function sectionOf(settings: readonly SettingFacts[]): string {
  const [first] = settings;
  if (first?.key.startsWith('areas.') === true) return areasSection(settings);
  const rows = settings.map((setting) => [
    `\`${setting.key}\`${setting.isReloadable ? ' ↻' : ''}`,
    fallbackOf(setting),
    setting.allowed,
    meaningOf(setting.key),
  ]);
  return markdownTable(['Key', 'Default', 'Must be', 'What it is'], rows);
}

/** All of them are alike. */
function areasSection(areas: readonly SettingFacts[]): string {
  const names = areas.map(({ key }) => `\`${key}\``).join(', ');
  return `${meaningOf('areas')} Each must be ${areas[0]?.allowed ?? ''}: ${names}. ↻`;
}

function meaningOf(key: string): string {
  const meaning = meanings.get(key);
  if (meaning === undefined) throw new Error(`${key} has no comment that says what it is.`);
  return meaning;
}

function fallbackOf({ key, fallback }: SettingFacts): string {
  if (fallback === undefined) return '';
  if (typeof fallback !== 'number') return `\`${JSON.stringify(fallback).replaceAll('"', '')}\``;
  return `\`${fallback}\`${inWords(key, fallback)}`;
}

/** 268435456 is 256 MiB. */
function inWords(key: string, value: number): string {
  const units: readonly (readonly [string, number])[] = /Bytes/.test(key)
    ? [
        ['GiB', 1024 ** 3],
        ['MiB', 1024 ** 2],
        ['KiB', 1024],
      ]
    : key.endsWith('Seconds')
      ? [
          ['d', 24 * 3600],
          ['h', 3600],
        ]
      : [];
  const unit = units.find(([, size]) => value >= 2 * size || value === size);
  if (unit === undefined || value === 0) return '';
  return ` (${Number((value / unit[1]).toFixed(1))} ${unit[0]})`;
}

if (import.meta.main) writeFileSync(configurationPath, renderConfiguration());
