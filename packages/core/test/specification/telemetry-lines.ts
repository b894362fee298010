/** Telemetry and feedback, as the specification lists them. */
import { header, shown, type FieldLine, type SpecificationLine } from './line.ts';

const plain = {
  method: 'POST',
  credential: 'access token',
  params: [],
  query: [],
  success: [],
} as const;

/** The telemetry event of the Events part; `at`: where it stands, with a dot at the end. */
export const event = (at: string): readonly FieldLine[] => [
  shown(`${at}timeUnixNano`, 'string'),
  shown(`${at}observedTimeUnixNano`, 'string'),
  shown(`${at}severityNumber`, 'integer'),
  shown(`${at}severityText`, 'string'),
  shown(`${at}body`, 'object'),
  shown(`${at}attributes`, 'array'),
  shown(`${at}attributes[].key`, 'string'),
  shown(`${at}attributes[].value`, 'object'),
];

const log = 'resourceLogs[].scopeLogs[].logRecords[]';

export const telemetryLines: readonly SpecificationLine[] = [
  {
    ...plain,
    path: '/api/event_logging/v2/batch',
    headers: [header('x-service-name', 'agent_desktop'), header('content-type', 'application/json')],
    body: [shown('events', 'array', { most: 50 }), ...event('events[].')],
    response: 'not shown',
    errors: [400, 401, 413, 429, 500],
  },
  {
    ...plain,
    path: '/v1/logs',
    // Or application/x-protobuf; the fields are those of the JSON form.
    headers: [header('content-type', 'application/json')],
    body: [
      shown('resourceLogs', 'array'),
      shown('resourceLogs[].resource.attributes', 'array'),
      shown('resourceLogs[].resource.attributes[].key', 'string'),
      shown('resourceLogs[].resource.attributes[].value', 'object'),
      shown('resourceLogs[].scopeLogs', 'array'),
      shown('resourceLogs[].scopeLogs[].scope', 'object'),
      shown('resourceLogs[].scopeLogs[].logRecords', 'array'),
      shown(`${log}.timeUnixNano`, 'string'),
      shown(`${log}.severityNumber`, 'integer'),
      shown(`${log}.severityText`, 'string'),
      shown(`${log}.body`, 'object'),
    ],
    response: 'not shown',
    errors: [400, 401, 500],
  },
  {
    ...plain,
    path: '/api/agent_cli_feedback/bundle',
    headers: [{ name: 'content-type', value: 'multipart/form-data', presence: 'shown' }],
    body: [shown('description', 'string', { most: 20_000 }), shown('bundle', 'file')],
    success: [200],
    response: [shown('feedback_id', 'string')],
    // No 401 here, although the call carries a token (Authentication, rule 5).
    errors: [400, 403, 413, 429, 500],
  },
];
