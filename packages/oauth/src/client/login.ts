import type { Credentials } from '../store/token-store.ts';
import { loginWithBrowser, type BrowserLogin } from './browser.ts';
import { loginWithDevice, type DeviceLogin } from './device.ts';
import { LoginError } from './login-error.ts';

export interface Login extends Omit<BrowserLogin, 'openBrowser'>, DeviceLogin {
  /** As in `BrowserLogin`; left out where a browser would open where nobody looks, or not at all. */
  readonly openBrowser?: BrowserLogin['openBrowser'];
}

/**
 * Logs in with the person's browser where one opens, else by a code that the person enters on any other machine.
 * Throws what `loginWithBrowser` and `loginWithDevice` throw.
 *
 * @example
 * const login = await login({ baseUrl, transport, openBrowser: (url) => open(url), onPrompt: ({ user_code }) => show(user_code) });
 */
export async function login({ openBrowser, ...options }: Login): Promise<Credentials> {
  if (!openBrowser) return loginWithDevice(options);
  try {
    return await loginWithBrowser({ ...options, openBrowser });
  } catch (error) {
    if (!(error instanceof LoginError) || error.code !== 'browser_failed') throw error;
    return loginWithDevice(options);
  }
}
