import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Installation } from '../installation.ts';
import type { Program } from '../process.ts';
import { straight, type GatewayName } from '../topologies.ts';
import { StepProxy } from './proxy.ts';

/** An installation with a proxy before each gateway, that a test can hold at any step: clients, bridge included, go to the first. */
export class StepBench extends Installation {
  readonly #settings: NodeJS.ProcessEnv;
  readonly #proxies: ReadonlyMap<GatewayName, StepProxy>;

  /** `settings`: the gateways', as environment variables. */
  constructor(settings: NodeJS.ProcessEnv = {}, topology = straight) {
    super(topology);
    this.#settings = settings;
    this.#proxies = new Map(topology.gateways.map((name) => [name, new StepProxy()]));
  }

  override get env(): NodeJS.ProcessEnv {
    const { url } = this.proxy;
    return { ...super.env, ...this.#settings, SALLYPORT_BASE_URL: url, SALLYPORT_PUBLIC_URL: url };
  }

  async open(): Promise<this> {
    for (const proxy of this.#proxies.values()) await proxy.listen();
    await this.gateway();
    await this.login();
    return this;
  }

  override async start(...[name, ...how]: Parameters<Installation['start']>): Promise<Program> {
    const program = await super.start(name, ...how);
    this.proxyBefore(name).upstream = Number(this.portOf(name));
    return program;
  }

  protected override upstream(): Promise<string> {
    return Promise.resolve(this.proxyBefore('gateway').url);
  }

  proxyBefore(name: GatewayName): StepProxy {
    return this.#proxies.get(name)!;
  }

  /** The one that clients go to. */
  get proxy(): StepProxy {
    return this.proxyBefore(this.topology.gateways.at(-1)!);
  }

  get proxies(): readonly StepProxy[] {
    return [...this.#proxies.values()];
  }

  /** What went by, for the message of a test that fails. */
  get seen(): string {
    return [...this.#proxies]
      .map(([name, { seen }]) => [`--- to the ${name}`, ...seen].join('\n'))
      .join('\n');
  }

  /** Asks the gateway that serves, as the person who is logged in; for what no command shows. */
  fetch(path: string): Promise<Response> {
    const headers = { authorization: `Bearer ${this.#login.accessToken}`, accept: '*/*' };
    return fetch(`http://127.0.0.1:${this.portOf('gateway')}${path}`, { headers });
  }

  /** The directories of all environments, each as often as it is registered. */
  async directories(): Promise<string[]> {
    const organization = `/v1/environment_providers/private/organizations/${this.#login.organizationId}`;
    const answer = await this.fetch(`${organization}/environments?limit=1000`);
    const { environments } = (await answer.json()) as { environments: { directory: string }[] };
    return environments.map(({ directory }) => directory);
  }

  get #login(): { readonly accessToken: string; readonly organizationId: string } {
    const file = join(this.folder, 'config/state/logins', `${encodeURIComponent(this.proxy.url)}.json`);
    return JSON.parse(readFileSync(file, 'utf8')) as { accessToken: string; organizationId: string };
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    for (const proxy of this.proxies) proxy.close();
    await super[Symbol.asyncDispose]();
  }
}
