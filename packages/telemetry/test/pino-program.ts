// A program that logs with pino, ended in the way that its argument names.
import { pino } from 'pino';

const [, , ending = 'end'] = process.argv;
const { BASE_URL = '', SPOOL_DIR = '' } = process.env;

const logger = pino({
  transport: {
    target: '@sallyport/telemetry/pino',
    options: {
      baseUrl: BASE_URL,
      token: 'token',
      serviceName: 'shop',
      serviceVersion: '1.0.0',
      spoolDir: SPOOL_DIR,
    },
  },
});
logger.warn({ user: 'new', password: 'hunter2' }, 'cart opened');
logger.child({ name: 'cart' }).error(new TypeError('no such item'));
if (ending === 'exit') process.exit(3);
