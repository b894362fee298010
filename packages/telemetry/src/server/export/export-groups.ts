import type { StoredAttribute } from '../any-value.ts';
import type { RecordGroup, RecordResource } from '../logs-request.ts';
import type { StoredRecord } from '../ports.ts';

/**
 * Records as OTLP has them, still in their order: neighbours of one origin are a group. The resource tells whose they are,
 * which the engine behind would not know otherwise; what a sender said there itself stands.
 */
export function toExportGroups(records: readonly StoredRecord[]): Omit<RecordGroup, 'serviceName'>[] {
  const groups: (Omit<RecordGroup, 'serviceName'> & { readonly records: StoredRecord[] })[] = [];
  let lastKey: string | undefined;
  for (const record of records) {
    const { organizationId, accountId, serviceName, resource, scope } = record;
    const key = JSON.stringify([organizationId, accountId, serviceName, resource, scope]);
    if (key === lastKey) groups.at(-1)?.records.push(record);
    else groups.push({ resource: resourceOf(record), scope, records: [record] });
    lastKey = key;
  }
  return groups;
}

const emptyResource: RecordResource = { attributes: [], droppedAttributesCount: 0, schemaUrl: '' };

function resourceOf({ organizationId, accountId, serviceName, resource }: StoredRecord): RecordResource {
  const own = resource ?? emptyResource;
  const said = new Set(own.attributes.map(({ key }) => key));
  const added: [string, string][] = [
    ['service.name', serviceName],
    ['sallyport.organization.id', organizationId],
    ['sallyport.account.id', accountId],
  ];
  const attributes: StoredAttribute[] = added
    .filter(([key]) => !said.has(key))
    .map(([key, stringValue]) => ({ key, value: { stringValue } }));
  return { ...own, attributes: [...own.attributes, ...attributes] };
}
