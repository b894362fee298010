import { openApiDocument } from '@sallyport/core/openapi';
import { publicUrlOf } from '../config/address.ts';
import { version } from '../version.ts';
import { configOf } from './config-of.ts';
import type { ConfigFlags } from './flags.ts';
import { printJson } from './print.ts';

/** `sallyport-gateway openapi`: the contract in the words and at the address of this configuration. */
export function printOpenApi(flags: ConfigFlags): void {
  const { config } = configOf(flags);
  const document = openApiDocument({
    version,
    serverUrl: publicUrlOf(config, config.port),
    dialect: config.dialect,
  });
  printJson(document);
}
