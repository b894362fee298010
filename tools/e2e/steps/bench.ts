import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Installation } from '../installation.ts';
import type { Program } from '../process.ts';
import { StepProxy } from './proxy.ts';

/** An installation whose clients, bridge included, reach the gateway through a proxy that a test can hold at any step. */
export class StepBench extends Installation {
  readonly #settings: NodeJS.ProcessEnv;
  proxy = new StepProxy();
  #gateway: Program | undefined;

  /** `settings`: the gateway's, as environment variables. */
  constructor(settings: NodeJS.ProcessEnv = {}) {
    super();
    this.#settings = settings;
  }

  override get env(): NodeJS.ProcessEnv {
    const { url } = this.proxy;
    return { ...super.env, ...this.#settings, SALLYPORT_BASE_URL: url, SALLYPORT_PUBLIC_URL: url };
  }

  async open(): Promise<this> {
    await this.proxy.listen();
    await this.startGateway();
    await this.login();
    return this;
  }

  /** On the port that the first start got. */
  async startGateway(): Promise<void> {
    this.#gateway = await this.gateway();
    this.proxy.upstream = Number(new URL(this.baseUrl).port);
  }

  async killGateway(): Promise<void> {
    await this.#gateway?.stop('SIGKILL');
  }

  /** Asks the gateway itself, as the person who is logged in; for what no command shows. */
  fetch(path: string): Promise<Response> {
    const headers = { authorization: `Bearer ${this.#login.accessToken}`, accept: '*/*' };
    return fetch(`${this.baseUrl}${path}`, { headers });
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
    this.proxy.close();
    await super[Symbol.asyncDispose]();
  }
}
