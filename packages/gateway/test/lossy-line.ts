import { scriptedUpstream, type ScriptedUpstream } from './passthrough/scripted-upstream.ts';

/** A line to a service on which the first answer to each request is lost, once the service has done what was asked. */
export async function lossyLine(to: string): Promise<ScriptedUpstream & { readonly lost: () => number }> {
  const line = await scriptedUpstream();
  const known = new Set<string>();
  line.answer = ({ method, url, headers, body }, response) => {
    const { host: _host, connection: _connection, 'content-length': _length, ...passed } = headers;
    void fetch(`${to}${url}`, {
      method,
      headers: passed as Record<string, string>,
      body: new Uint8Array(body),
    }).then(async (answer) => {
      const content = Buffer.from(await answer.arrayBuffer());
      if (known.has(body.toString('latin1'))) response.writeHead(answer.status).end(content);
      else response.destroy();
      known.add(body.toString('latin1'));
    });
  };
  return Object.assign(line, { lost: () => known.size });
}
