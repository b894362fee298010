import { contract, type Contract } from '../contract/index.ts';
import type { Endpoint, InputFor, ResponseOf } from '../contract/endpoint.ts';
import { familyClients, type FamilyClients } from './families.ts';
import { callEndpoint, type CallInput, type CallOptions, type ClientOptions } from './call.ts';

/** A call: all parts that the row needs, in one argument; an argument without required parts may be left out. */
export type Call<E extends Endpoint> =
  Partial<InputFor<E>> extends InputFor<E>
    ? (input?: InputFor<E> & CallOptions) => Promise<ResponseOf<E>>
    : (input: InputFor<E> & CallOptions) => Promise<ResponseOf<E>>;

/**
 * The service's endpoints as methods, grouped by area: `client.sessions.create({...})`; and what only an upstream serves, by
 * family: `client.models.list()`.
 */
export type Client = {
  readonly [A in keyof Contract]: {
    readonly [K in keyof Contract[A]]: Contract[A][K] extends Endpoint ? Call<Contract[A][K]> : never;
  };
} & FamilyClients;

/**
 * Makes the typed client. Refusals reject with `ServiceError`, network failures with `TransportError`.
 *
 * @example
 * const client = createClient({ baseUrl: 'http://127.0.0.1:8787', transport: undiciTransport() });
 * const { account } = await client.account.bootstrap();
 */
export function createClient(options: ClientOptions): Client {
  const areas = Object.entries(contract).map(([area, rows]) => [
    area,
    Object.fromEntries(
      Object.entries(rows).map(([verb, endpoint]: [string, Endpoint]) => [
        verb,
        (input: CallInput & CallOptions = {}) => callEndpoint(options, endpoint, input, input),
      ]),
    ),
  ]);
  return { ...Object.fromEntries(areas), ...familyClients(options) } as Client;
}
