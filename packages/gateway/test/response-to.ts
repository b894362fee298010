import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';

/** The answer to a GET, as it begins. What becomes of its connection afterwards is nobody's failure. */
export async function responseTo(url: string): Promise<IncomingMessage> {
  const call = request(url).on('error', () => undefined);
  const [response] = (await once(call.end(), 'response')) as [IncomingMessage];
  return response;
}
