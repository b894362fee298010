export { login, type Login } from './client/login.ts';
export { loginWithBrowser, type BrowserLogin } from './client/browser.ts';
export { loginWithDevice, type DeviceLogin, type DevicePrompt } from './client/device.ts';
export { loginWithSessionKey, type SessionKeyLogin } from './client/session-key.ts';
export { logout, revokeLogin, type Logout, type LogoutResult } from './client/logout.ts';
export { TokenProvider, type TokenProviderOptions } from './client/token-provider.ts';
export { storeLogin, trustDevice, type StoredLogin, type TrustDevice } from './client/stored-login.ts';
export { LoginError, loginNextSteps, type LoginErrorCode } from './client/login-error.ts';

// The steps of the logins, for front ends that take them one by one.
export { discover, type DiscoveredServer } from './client/discovery.ts';
export type { OAuthOptions } from './client/oauth-fetch.ts';
export {
  authorizationUrl,
  beginAuthorization,
  finishAuthorization,
  type AuthorizationRequest,
  type PendingAuthorization,
} from './client/authorization.ts';
export { awaitDevice, beginDevice, type PendingDevice } from './client/device.ts';
export { openLoopback, type LoopbackRedirect } from './client/loopback.ts';
export { refreshLogin } from './client/refresh.ts';

export type { Credentials, TokenStore } from './store/token-store.ts';
export { fileTokenStore, type FileTokenStoreOptions } from './store/file.ts';
export {
  systemTokenStore,
  type Place,
  type SystemTokenStore,
  type SystemTokenStoreOptions,
} from './store/system.ts';
export type { Keychain } from './store/keychain.ts';
export { systemKeychain, type SystemKeychainOptions } from './store/system-keychain.ts';
export { memoryTokenStore } from './store/memory.ts';
export { environmentToken } from './store/environment.ts';
