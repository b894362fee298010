import { ServiceError } from '@sallyport/core';
import type { Context } from './context.ts';
import { unknownOrganization } from './organizations.ts';

/** Settings that an organization gives its members' programs: JSON values by name. */
export interface ManagedSettings {
  /** Sorted by name. */
  of(organizationId: string): Promise<Readonly<Record<string, unknown>>>;
  /** Throws `invalid_request` for a bad name or too large a value, `not_found`, `conflict` for one too many, or all too large. */
  set(organizationId: string, name: string, value: unknown): Promise<void>;
  /** Throws `not_found`. */
  unset(organizationId: string, name: string): Promise<void>;
}

const maxSettings = 1000;
const maxNameLength = 128;
/** Of one value, as JSON. */
const maxValueBytes = 64 * 1024;
/** Of an organization's names and values: all of them are one answer, which each of its programs reads. */
const maxBytes = 1024 * 1024;

export function createManagedSettings({ store, log }: Context): ManagedSettings {
  const { acts, reads } = store;
  return {
    async of(organizationId) {
      const settings = await reads.settings({ organizationId, limit: maxSettings });
      return Object.fromEntries(settings.map(({ name, value }) => [name, JSON.parse(value) as unknown]));
    },
    async set(organizationId, name, value) {
      if (name === '' || name.length > maxNameLength || /\p{Cc}/u.test(name) || !name.isWellFormed())
        throw new ServiceError(
          'invalid_request',
          `The name of a setting has 1 to ${maxNameLength} characters, none of them control.`,
        );
      const json = JSON.stringify(value);
      if (Buffer.byteLength(json) > maxValueBytes)
        throw new ServiceError('invalid_request', `A value has at most ${maxValueBytes} bytes as JSON.`);
      const limits = { max: maxSettings, maxBytes };
      const outcome = await acts.setSetting({ organizationId, name, value: json, ...limits });
      if (outcome === 'unknown') throw unknownOrganization();
      if (outcome === 'too_many')
        throw new ServiceError('conflict', `The organization has ${maxSettings} settings: unset one first.`);
      if (outcome === 'too_large')
        throw new ServiceError(
          'conflict',
          `The organization's settings would have more than ${maxBytes} bytes together: unset one first.`,
        );
      log.info({ organizationId, setting: name }, 'a managed setting was set');
    },
    async unset(organizationId, name) {
      if (!(await acts.unsetSetting({ organizationId, name })))
        throw new ServiceError('not_found', 'The organization has no such setting.');
      log.info({ organizationId, setting: name }, 'a managed setting was unset');
    },
  };
}
