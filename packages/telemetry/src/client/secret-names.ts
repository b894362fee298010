/** What names of secrets have in them, as a part of a regular expression. */
export const secretWords =
  'authorization|cookie|token(?!i[sz])|secret(?!ar)|passw|passphrase|passcode|credential|requirepass|masterauth|_pat(?![a-z])|' +
  '(?<![a-z])(?:pass|pwd|otp)(?![a-z])|(?<![a-z])auth(?![\\w-])|' +
  '(?:access|account|api|client|encryption|master|private|session|shared|signing)[-_]?key';

export const secretName = new RegExp(secretWords, 'i');

/** Before a quote, or a bracket, in a JSON string within JSON strings, as a part of a regular expression. */
export const escapes = String.raw`\\{0,31}`;

/** Options and headers, as a part of a regular expression: in a list, the value of one is the next item. */
export const namesInLists = '--?[\\w-]+|(?:proxy-)?authorization|(?:set-)?cookie|x-[\\w-]+';

const nameInList = new RegExp(`^(?:${namesInLists})$`, 'i');

/** Whether the item of a list behind this one is a secret: `["--token", "x"]`, `["cookie", "a=1"]`. */
export function isSecretBehind(item: string): boolean {
  return item.length <= 256 && nameInList.test(item) && secretName.test(item);
}

const flag = /^(?:true|false|null|nil|none|undefined|yes|no|on|off)$/i;
const number = /^[-+]?\d+(?:\.\d+)?k?$/;
/** `input_tokens`, `cookies`, `token_count`, `accessTokenExpiresAt`: what is a number there tells of secrets, and is none. */
const countName =
  /(?:[^s]s|count|limit|ttl|length|size|budget|used|left|expir[a-z]{0,4}(?:[-_]?(?:at|in))?)$/i;
/** `token_endpoint_auth_method`, `credentialStore`: one of a few words. */
const choiceName = /(?:^|[-_.])(?:store|type|kind|method|mode|policy)$/i;
const choiceNameInCamelCase = /[a-z](?:Store|Type|Kind|Method|Mode|Policy)$/;
/** `client_secret_basic`, `Bearer`: nothing that is random is all small letters. */
const choice = /^[A-Z]?[a-z]{1,16}(?:[-_][a-z]{1,16}){0,3}$/;

/** Whether a value is none to hide though its name is one of secrets: a flag, a count, one of a few words, no more than signs. */
export function isHarmless(name: string, given: unknown): boolean {
  if (given === null || typeof given === 'boolean') return true;
  if (typeof given !== 'string' && typeof given !== 'number') return false;
  const value = String(given);
  if (flag.test(value) || /^[\p{P}\p{S}\s]*$/u.test(value)) return true;
  if (number.test(value))
    return value.length <= 3 || value.includes('.') || (value.length <= 15 && countName.test(name));
  return choice.test(value) && (choiceName.test(name) || choiceNameInCamelCase.test(name));
}
