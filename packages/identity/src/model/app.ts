import { createHash, createPublicKey, type KeyObject } from 'node:crypto';

export interface AppOwner {
  readonly login: string;
  readonly id: number;
  readonly type: 'User' | 'Organization';
  readonly plan: 'free' | 'enterprise';
}

export interface AppKey {
  readonly id: number;
  /** Base64-encoded SHA-256 of the DER-encoded key. */
  readonly fingerprint: string;
  /** PEM (SPKI). */
  readonly publicKey: string;
  readonly createdMs: number;
}

/** A registered application. */
export interface App {
  readonly id: number;
  readonly client_id: string;
  readonly slug: string;
  readonly name: string;
  readonly owner: AppOwner | undefined;
  readonly keys: readonly AppKey[];
  readonly createdMs: number;
  readonly updatedMs: number;
  readonly suspendedMs: number | undefined;
  /** Incremented by every change to the app or its keys. */
  readonly version: number;
}

/** An app has two identifiers. */
export type AppSelector = { readonly id: number } | { readonly client_id: string };

/** Source: webhooks, section 10. */
export const MAX_KEY_COUNT = 25;

const MIN_KEY_BITS = 2048;
const MAX_KEY_BITS = 16_384;

/**
 * Reads the RSA public key from PEM (SPKI, PKCS#1 or a certificate); `undefined` if it contains no
 * key of a valid size.
 */
export function readPublicKey(pem: string): KeyObject | undefined {
  // `createPublicKey` would also accept a private key, but sending one here is a mistake.
  if (pem.includes('PRIVATE KEY')) return undefined;
  try {
    const key = createPublicKey(pem);
    const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
    return key.asymmetricKeyType === 'rsa' && bits >= MIN_KEY_BITS && bits <= MAX_KEY_BITS
      ? key
      : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the SHA-256 of the public key (SPKI, DER) in Base64. */
export function fingerprintOf(key: KeyObject): string {
  return createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('base64');
}

/** Returns the URL form of a name: `My App!` becomes `my-app`. */
export function slugOf(name: string): string {
  return (
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '') || 'app'
  );
}
