import { callback, challenge, clientId } from './open-server.ts';
import type { openOverHttp } from './over-http.ts';

/** A browser as far as these pages need one: cookies, redirects by hand, forms. */
export function browser(url: string) {
  const jar = new Map<string, string>();
  async function request(path: string, init: RequestInit = {}) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(new URL(path, url), {
      ...init,
      redirect: 'manual',
      headers: { ...(cookie && { cookie }), ...(init.headers as Record<string, string>) },
    });
    for (const set of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (set.includes('Max-Age=0')) jar.delete(name);
      else jar.set(name, value);
    }
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, text, location: answer.headers.get('location') };
  }
  const send = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    request(path, { method: 'POST', body: new URLSearchParams(fields), headers });
  return {
    jar,
    send,
    get: (path: string) =>
      request(path, { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } }),
    /** Fills the form of a page in and sends it. */
    submit(page: { text: string }, fields: Record<string, string>, headers: Record<string, string> = {}) {
      const action = /<form method="post" action="([^"]+)"/.exec(page.text)?.[1] ?? '/no-form';
      const hidden = [...page.text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(
        ([, name = '', value = '']) => [name, value.replaceAll('&amp;', '&')],
      );
      return send(action, { ...(Object.fromEntries(hidden) as object), ...fields }, headers);
    },
  };
}

export const password = 'correct horse battery';

/** Sets the owner's password by the link; the browser is signed in then. */
export async function setUp(opened: Awaited<ReturnType<typeof openOverHttp>>, visitor = browser(opened.url)) {
  const link = (await opened.server.accounts.setupLink(opened.owner.accountId)).url;
  const { pathname, search } = new URL(link);
  const page = await visitor.get(pathname + search);
  const answer = await visitor.submit(page, { password, repeated: password });
  return { visitor, link: pathname + search, page, answer };
}

/** Where a program sends its person's browser. */
export const authorizePath = (changes: Record<string, string> = {}) =>
  `/v1/oauth/authorize?${new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: callback,
    state: 'xyz',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...changes,
  }).toString()}`;
