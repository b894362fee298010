/**
 * Where the contract departs from the specification on purpose: by endpoint, each difference and why. A test holds the list
 * to the letter, so a departure that is mended leaves it, and a new one needs a reason here.
 */
export const departures: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'POST /v1/oauth/token': {
    'response refresh_token may be missing':
      'RFC 6749 5.1: a client keeps the one that it has; the gateway always sends one',
  },
  'GET /api/oauth/profile': {
    'response organization.organization_type takes any value':
      'a client goes on with a plan that is new to it',
    'response organization.rate_limit_tier takes any value': 'a client goes on with a tier that is new to it',
  },
  'POST /api/oauth/agent_cli/create_api_key': {
    'a body is taken': 'an addition: a name for the list of keys; without a body all is as shown',
  },
  'GET /api/bootstrap': {
    'credential is optional': 'a valid bearer tells whose account is meant; without one all is as shown',
  },
  'GET /v1/environments/{env_id}/work/poll': {
    'response data.id may be missing':
      'kinds of work other than a session are not shown: one may refer to nothing',
  },
  'POST /v1/sessions': {
    'header vendor-client-feature takes any value':
      'only its presence is judged, so that another feature of the same beta passes',
  },
  'GET /v1/code/sessions/{id}/worker/events/stream': {
    'content-type is not asked for': 'the opening request has no body; the worker of this project sends it',
  },
  'POST /api/event_logging/v2/batch': {
    'header x-service-name takes any value': 'other programs than the desktop one send their own name',
    'body events has no limit': 'more than 50 are 413, not 400: counted by the engine',
    'body events takes any items': 'each is judged as a log record after the count',
  },
  'POST /v1/logs': {
    'body resourceLogs takes any items': 'OTLP refuses record by record, in `partialSuccess`',
  },
};
