import { hash } from 'node:crypto';
import { type Random, randomLetters } from '@plinth/kernel';

export type PlatformKeyKind = 'secret' | 'publishable';

/** What is kept of a platform's key. Its text is told once, when it is made. */
export interface PlatformKey {
  /** `key_` and 16 letters and digits. */
  readonly id: string;
  readonly platform: string;
  readonly kind: PlatformKeyKind;
  readonly livemode: boolean;
  /** SHA-256 of the text, 64 lower-case hex digits. */
  readonly hash: string;
  /** For people who compare a list with what they hold. */
  readonly last4: string;
  readonly createdMs: number;
  /** Valid while this is later than now. */
  readonly expiresMs: number | undefined;
  readonly revokedMs: number | undefined;
}

export interface ListedPlatformKey extends PlatformKey {
  /** To the minute; `undefined`: never, as far as is known. */
  readonly lastUsedMs: number | undefined;
}

export interface IssuedPlatformKey {
  readonly key: PlatformKey;
  /** Secret; never stored or logged. */
  readonly text: string;
}

const SECRET_LENGTH = 40;

/** Source: accounts, section 3. A restricted key counts as the secret key of its mode. */
const KEY_TEXT = /^(sk|rk|pk)_(test|live)_[0-9A-Za-z]{24,200}$/;

/** What the text of a key says about it; `undefined` when it is none. */
export function readKeyText(
  text: string,
): { readonly kind: PlatformKeyKind; readonly livemode: boolean } | undefined {
  const [, kind, mode] = KEY_TEXT.exec(text) ?? [];
  if (kind === undefined) return undefined;
  return { kind: kind === 'pk' ? 'publishable' : 'secret', livemode: mode === 'live' };
}

/** Like `sk_test_` and 40 letters; secret, and told once. */
export function makeKeyText(random: Random, kind: PlatformKeyKind, livemode: boolean): string {
  const prefix = `${kind === 'secret' ? 'sk' : 'pk'}_${livemode ? 'live' : 'test'}_`;
  return prefix + randomLetters(random, SECRET_LENGTH);
}

/** Names a key wherever its text must not stand. */
export function makeKeyId(random: Random): string {
  return `key_${randomLetters(random, 16)}`;
}

/** SHA-256 in 64 lower-case hex digits. Keys hold 238 bits of chance, so that no slow hash is needed. */
export function hashKey(text: string): string {
  return hash('sha256', text, 'hex');
}
