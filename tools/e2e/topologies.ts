/** A gateway on the clients' way: the one that serves, or one that passes everything on to it. */
export type GatewayName = 'gateway' | 'gateway in front';

export interface Topology {
  readonly name: string;
  /** From the one that serves to the one that clients go to. */
  readonly gateways: readonly GatewayName[];
}

export const straight: Topology = { name: 'straight', gateways: ['gateway'] };
export const chained: Topology = {
  name: 'through a gateway in front',
  gateways: ['gateway', 'gateway in front'],
};

/** What the main job is done in: nobody who calls should notice which. */
export const topologies = [straight, chained];

/** Each of their gateways, for what may happen to any of them. */
export const gatewaysOfEach = topologies.flatMap((topology) =>
  topology.gateways.map((name) => ({ topology, name })),
);
