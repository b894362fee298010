import type { SettingsFlags } from '../config/settings.ts';

/**
 * Makes anew the login that the flags chose: without them it may be another one. Variables and files hold for the next command
 * as well.
 */
export function loginAgain({ profile, baseUrl }: SettingsFlags): string {
  return [
    'sallyport login',
    ...(profile === undefined ? [] : ['--profile', profile]),
    ...(baseUrl === undefined ? [] : ['--base-url', baseUrl]),
  ].join(' ');
}
