/** Options that have a secret and do not say so, with the commands whose they are: `-p` of others is a port, or a path. */
const commandsByOption = {
  '-p': 'mysql\\w*|mariadb[\\w-]*|mongo\\w*|sshpass|7z\\w?|(?:docker|podman|helm registry) login',
  '-P': 'sqlcmd|bcp|unzip|zip',
  '-a': 'redis-cli',
  '-b': 'curl',
  '-w': 'ldap\\w+',
};

const rules = Object.entries(commandsByOption).map(([option, commands]) => ({
  command: new RegExp(`\\b(?:${commands})["'\\s].*`, 'g'),
  /** `-px`, `-p x`, `-p 'x y'`, and `"-p", "x"` where arguments are listed. */
  value: new RegExp(
    `((?<=[\\s"'])${option}(?:["'],)?\\s{0,4})(?!-)(?:"[^"]{0,4096}"|'[^']{0,4096}'|[^\\s"']+)`,
    'g',
  ),
}));

const anyOption = new RegExp(`[\\s"'](?:${Object.keys(commandsByOption).join('|')})`);

/** `mysql -px` without its password. */
export function hideInCommands(text: string, hidden: string): string {
  if (!anyOption.test(text)) return text;
  let shown = text;
  for (const { command, value } of rules)
    shown = shown.replace(command, (line) => line.replace(value, `$1${hidden}`));
  return shown;
}
