// pino loads a transport's default export.
export { pinoTransport, pinoTransport as default, type PinoTransportOptions } from './transport.ts';
