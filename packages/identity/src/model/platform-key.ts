import { hash } from 'node:crypto';
import { type Random, randomLetters } from '@plinth/kernel';

export type PlatformKeyKind = 'secret' | 'publishable';

/** Stored form of a platform key. Its text is returned once, on creation. */
export interface PlatformKey {
  /** `key_` and 16 letters and digits. */
  readonly id: string;
  readonly platform: string;
  readonly kind: PlatformKeyKind;
  readonly livemode: boolean;
  /** SHA-256 of the text, 64 lower-case hex digits. */
  readonly hash: string;
  /** Helps users match a listed key with their own. */
  readonly last4: string;
  readonly createdMs: number;
  /** The key is valid until this time. */
  readonly expiresMs: number | undefined;
  readonly revokedMs: number | undefined;
}

export interface ListedPlatformKey extends PlatformKey {
  /** Accurate to the minute; `undefined` if no use is known. */
  readonly lastUsedMs: number | undefined;
}

export interface IssuedPlatformKey {
  readonly key: PlatformKey;
  /** Secret; never stored or logged. */
  readonly text: string;
}

const SECRET_LENGTH = 40;

/** A restricted key counts as the secret key of its mode. Source: accounts, section 3. */
const KEY_TEXT = /^(sk|rk|pk)_(test|live)_[0-9A-Za-z]{24,200}$/;

/** Returns the kind and mode of a key text; `undefined` if the text is not a key. */
export function readKeyText(
  text: string,
): { readonly kind: PlatformKeyKind; readonly livemode: boolean } | undefined {
  const [, kind, mode] = KEY_TEXT.exec(text) ?? [];
  if (kind === undefined) return undefined;
  return { kind: kind === 'pk' ? 'publishable' : 'secret', livemode: mode === 'live' };
}

/** Generates a key: a prefix such as `sk_test_` and 40 random letters. The complete key is returned only once. */
export function makeKeyText(random: Random, kind: PlatformKeyKind, livemode: boolean): string {
  const prefix = `${kind === 'secret' ? 'sk' : 'pk'}_${livemode ? 'live' : 'test'}_`;
  return prefix + randomLetters(random, SECRET_LENGTH);
}

/** Generates the public identifier of a key, for use where its secret must not appear. */
export function makeKeyId(random: Random): string {
  return `key_${randomLetters(random, 16)}`;
}

/** Returns the SHA-256 in 64 lower-case hex digits. Keys have 238 random bits, so a slow hash is not needed. */
export function hashKey(text: string): string {
  return hash('sha256', text, 'hex');
}
