export { Http1Client, type Http1Options } from './client.ts';
export {
  MalformedRequest,
  type AnswerHandler,
  type AnswerHead,
  type Client,
  type Control,
  type Dispatch,
  type Outgoing,
} from '../dispatch.ts';
export { dispatchOver } from '../over-undici.ts';
