const defaultPorts: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/**
 * The proxy through which an `http` or `https` address is reached; `undefined`: none. By the same rules as undici's
 * `EnvHttpProxyAgent`: `HTTPS_PROXY`, else `HTTP_PROXY`, unless `NO_PROXY` names the host; lower-case names win.
 */
export function environmentProxy(url: string, env: NodeJS.ProcessEnv = process.env): string | undefined {
  const { protocol, hostname, port } = new URL(url);
  const forHttp = env['http_proxy'] ?? env['HTTP_PROXY'];
  const forHttps = env['https_proxy'] ?? env['HTTPS_PROXY'];
  const proxy = (protocol === 'https:' ? forHttps : undefined) || forHttp;
  if (!proxy) return undefined;
  const host = bare(hostname);
  const atPort = port || defaultPorts[protocol];
  const exceptions = (env['no_proxy'] ?? env['NO_PROXY'] ?? '').split(/[,\s]/).filter(Boolean);
  return exceptions.some((entry) => isMeant(entry, host, atPort)) ? undefined : proxy;
}

/** Whether any address may have a proxy: where none has, nothing need be asked at each request. */
export function hasEnvironmentProxy(env: NodeJS.ProcessEnv = process.env): boolean {
  return Boolean((env['http_proxy'] ?? env['HTTP_PROXY']) || (env['https_proxy'] ?? env['HTTPS_PROXY']));
}

/** `host`, `host:port`, `.domain`, `*.domain`, `*`; a plain host means its subdomains, too. */
function isMeant(entry: string, host: string, port: string | undefined): boolean {
  const [, name = entry, only] = /^(\[.+\]|[^:]+):(\d+)$/.exec(entry) ?? [];
  if (only !== undefined && only !== port) return false;
  if (name === '*') return true;
  const domain = bare(name.replace(/^\*?\./, ''));
  return (host === domain && !name.startsWith('*')) || host.endsWith(`.${domain}`);
}

function bare(host: string): string {
  return host
    .replace(/^\[(.+)\]$/, '$1')
    .replace(/(.)\.$/, '$1')
    .toLowerCase();
}
